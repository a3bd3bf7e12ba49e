//! The quiche subject of h123: HTTP/3 by Cloudflare's quiche, HTTP/1.1 and HTTP/2 by hyper, all over one
//! BoringSSL. quiche does no I/O; what reads and sends its datagrams is here.

mod drive;
mod endpoint;
mod outbox;
mod pilot;
mod serve;
mod session;
mod tls;
mod transport;

use std::process::ExitCode;

use h123_common::command;

fn main() -> ExitCode {
    command::run(
        "h123-quiche",
        &[("serve", serve::serve), ("drive", drive::drive)],
    )
}
