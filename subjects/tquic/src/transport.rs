//! TQUIC's configuration.

use std::path::Path;

use h123_common::command::{Failure, Result};
use h123_common::serving::Serving;
use h123_common::windows;
use tquic::{Config, CongestionControlAlgorithm, TlsConfig};

/// For HTTP/3's control and QPACK streams, and any that a client greases with.
const UNIDIRECTIONAL_STREAMS: u64 = 100;
/// The payload of the largest datagram taken.
const TAKEN: u16 = 65_527;

pub fn config(serving: &Serving, ticket_key: &[u8]) -> Result<Config> {
    let (certificate, key) = (text(&serving.certificate)?, text(&serving.key)?);
    let mut tls = TlsConfig::new_server_config(certificate, key, vec![b"h3".to_vec()], true)?;
    tls.set_ticket_key(ticket_key)?;
    let mut config = Config::new()?;
    config.set_tls_config(tls);
    config.set_congestion_control_algorithm(controller(&serving.sending.congestion)?);
    if let Some(packets) = serving.sending.initial_window {
        config.set_initial_congestion_window(packets.into());
    }
    config.enable_pacing(!serving.sending.unpaced);
    config.set_max_idle_timeout(windows::IDLE.as_millis() as u64);
    config.set_recv_udp_payload_size(TAKEN);
    let (connection, stream) = (windows::CONNECTION.into(), windows::STREAM.into());
    config.set_initial_max_data(connection);
    config.set_max_connection_window(connection);
    config.set_initial_max_stream_data_bidi_remote(stream);
    config.set_initial_max_stream_data_uni(stream);
    config.set_max_stream_window(stream);
    config.set_initial_max_streams_bidi(windows::STREAMS.into());
    config.set_initial_max_streams_uni(UNIDIRECTIONAL_STREAMS);
    Ok(config)
}

/// Of the contract's; TQUIC has BBRv3 and Copa too, and no Reno.
fn controller(name: &str) -> Result<CongestionControlAlgorithm> {
    match name {
        "cubic" => Ok(CongestionControlAlgorithm::Cubic),
        "bbr" => Ok(CongestionControlAlgorithm::Bbr),
        _ => Err(Failure::unsupported(format!("congestion control {name}"))),
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str()
        .ok_or_else(|| Failure::bad_input(format!("{path:?} is not UTF-8")))
}
