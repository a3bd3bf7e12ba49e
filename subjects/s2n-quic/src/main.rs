//! The s2n-quic subject of h123: HTTP/3 by s2n-quic and h3. Nobody has published what joins the two: it is in
//! `glue`.

mod certificate;
mod glue;
mod quic;

use std::process::ExitCode;

use h123_common::command::{self, Failure, Flags, Result};
use h123_common::protocol::Protocol;
use h123_common::serving::Serving;
use h123_common::{h3, stop};

fn main() -> ExitCode {
    command::run("h123-s2n-quic", &[("serve", serve)])
}

fn serve(mut flags: Flags) -> Result<()> {
    let wait = certificate::Wait::take(&mut flags)?;
    let serving = Serving::parse(flags)?;
    if serving.protocol != Protocol::H3 {
        return Err(Failure::unsupported(format!(
            "protocol {}",
            serving.protocol
        )));
    }
    stop::run(stop::until_told(async {
        let mut server = quic::server(&serving, wait)?;
        while let Some(connection) = server.accept().await {
            tokio::spawn(h3::serve(glue::Connection::new(connection)));
        }
        Err(Failure::new("the server ended by itself"))
    }))
}
