//! What JavaScript hears of.

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

#[napi(
    discriminant = "type",
    discriminant_case = "camelCase",
    object_from_js = false
)]
pub enum Event {
    /// A client has begun a handshake.
    Session {
        session: u32,
        address: String,
        port: u16,
    },
    /// The handshake is complete: whether it resumed an earlier session, and whether early data (0-RTT) was accepted.
    Secure {
        session: u32,
        resumed: bool,
        early: bool,
    },
    /// A request: names and values of its header in turn, and whether that is all of it.
    Stream {
        session: u32,
        stream: i64,
        fields: Vec<String>,
        last: bool,
    },
    /// A piece of a request's body, as asked for with `read`.
    Data {
        session: u32,
        stream: i64,
        data: Buffer,
    },
    /// The request is complete.
    End { session: u32, stream: i64 },
    /// What was written is on its way, or little enough: write on.
    Drain { session: u32, stream: i64 },
    /// The client gave the stream up.
    Reset {
        session: u32,
        stream: i64,
        code: i64,
    },
    /// The client has moved to another address, and it was validated.
    Migrate {
        session: u32,
        address: String,
        port: u16,
    },
    /// Packets were found lost.
    PacketLoss { session: u32, packets: u32 },
    /// The session is over; `error` if not in good order.
    Close { session: u32, error: Option<String> },
}
