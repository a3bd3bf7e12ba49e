//! Flow control and concurrency, the same for HTTP/2 and HTTP/3 and on both sides, so that they are not
//! what a comparison finds. The values are Chromium's, and those of the subject `go`.

use std::time::Duration;

pub const STREAM: u32 = 6 << 20;
pub const CONNECTION: u32 = 15 << 20;
pub const STREAMS: u32 = 1000;

/// How long a QUIC connection may be silent.
pub const IDLE: Duration = Duration::from_secs(300);
