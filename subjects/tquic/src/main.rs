//! The TQUIC subject of h123: HTTP/3 by Tencent's TQUIC, which does no I/O; what reads and sends its datagrams is
//! here.

mod endpoint;
mod host;
mod serve;
mod session;
mod transport;

use std::process::ExitCode;

use h123_common::command;

fn main() -> ExitCode {
    command::run("h123-tquic", &[("serve", serve::serve)])
}
