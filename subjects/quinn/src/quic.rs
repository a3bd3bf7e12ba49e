//! quinn's configuration, the same for server and client.

use std::fs::File;
use std::io::LineWriter;
use std::path::Path;
use std::sync::Arc;

use h123_common::command::{Failure, Result};
use h123_common::sending::Sending;
use h123_common::windows;
use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::{QlogConfig, TransportConfig, VarInt};

/// The payload of the datagrams that a connection begins with by itself.
const DATAGRAM: u16 = 1200;

pub fn controller(sending: &Sending) -> Result<Arc<dyn ControllerFactory + Send + Sync>> {
    let datagram = u64::from(sending.max_datagram.unwrap_or(DATAGRAM));
    let bytes = sending.initial_window.map(|n| u64::from(n) * datagram);
    macro_rules! beginning {
        ($config:ty) => {{
            let mut config = <$config>::default();
            if let Some(bytes) = bytes {
                config.initial_window(bytes);
            }
            Arc::new(config)
        }};
    }
    Ok(match sending.congestion.as_str() {
        "cubic" => beginning!(CubicConfig),
        "reno" => beginning!(NewRenoConfig),
        "bbr" => beginning!(BbrConfig),
        name => return Err(Failure::unsupported(format!("congestion control {name}"))),
    })
}

pub fn transport(sending: &Sending) -> Result<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(controller(sending)?)
        .stream_receive_window(windows::STREAM.into())
        .receive_window(windows::CONNECTION.into())
        .send_window(windows::CONNECTION.into())
        .max_concurrent_bidi_streams(windows::STREAMS.into())
        .max_idle_timeout(Some(windows::IDLE.try_into()?));
    if let Some(size) = sending.max_datagram {
        transport
            .initial_mtu(size)
            .min_mtu(size)
            .mtu_discovery_config(None);
    }
    Ok(transport)
}

/// Has the next connection of a transport write its qlog to a file.
pub fn log(transport: &mut TransportConfig, file: &Path) -> Result<()> {
    let mut qlog = QlogConfig::default();
    qlog.writer(Box::new(LineWriter::new(File::create(file)?)))
        .title(Some("h123 quinn".to_owned()));
    transport.qlog_stream(qlog.into_stream());
    Ok(())
}

/// HTTP/3's H3_NO_ERROR.
pub const NO_ERROR: VarInt = VarInt::from_u32(0x100);

/// HTTP/3's H3_EXCESSIVE_LOAD.
pub const EXCESSIVE_LOAD: VarInt = VarInt::from_u32(0x107);
