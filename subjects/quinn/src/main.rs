//! The quinn subject of h123: HTTP/3 by quinn and h3, HTTP/1.1 and HTTP/2 by hyper, all over one rustls.

mod drive;
mod quic;
mod serve;
mod tls;

use std::process::ExitCode;

use h123_common::command;

fn main() -> ExitCode {
    command::run(
        "h123-quinn",
        &[("serve", serve::serve), ("drive", drive::drive)],
    )
}
