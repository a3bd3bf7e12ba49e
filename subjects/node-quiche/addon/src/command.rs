//! What JavaScript asks for.

use quiche::h3::Header;

pub enum Command {
    Stream {
        session: u32,
        stream: u64,
        action: Action,
    },
    CloseSession(u32),
    Close,
}

pub enum Action {
    Respond { headers: Vec<Header>, last: bool },
    Write(Vec<u8>),
    End,
    Read,
    Reset(u64),
}
