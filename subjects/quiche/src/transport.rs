//! quiche's configuration, the same for server and client.

use boring::ssl::SslContextBuilder;
use h123_common::command::{Failure, Result};
use h123_common::sending::Sending;
use h123_common::windows;

/// The payload of the largest datagram sent if nothing else is asked for, as in Cloudflare's own tokio-quiche.
const DATAGRAM: u16 = 1350;
/// What the largest that can be asked for needs.
pub const ROOM: usize = 1500;
/// The payload of the largest datagram taken.
const TAKEN: usize = 65_527;
/// For HTTP/3's control and QPACK streams, and any that a client greases with.
const UNIDIRECTIONAL_STREAMS: u64 = 100;

pub fn config(tls: SslContextBuilder, sending: &Sending) -> Result<quiche::Config> {
    let mut config = quiche::Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls)?;
    config
        .set_cc_algorithm_name(&sending.congestion)
        .map_err(|_| Failure::unsupported(format!("congestion control {}", sending.congestion)))?;
    if let Some(packets) = sending.initial_window {
        config.set_initial_congestion_window_packets(packets as usize);
    }
    config.set_application_protos(quiche::h3::APPLICATION_PROTOCOL)?;
    config.set_max_idle_timeout(windows::IDLE.as_millis() as u64);
    config.set_max_recv_udp_payload_size(TAKEN);
    config.set_max_send_udp_payload_size(sending.max_datagram.unwrap_or(DATAGRAM).into());
    config.enable_pacing(!sending.unpaced);
    let (connection, stream) = (windows::CONNECTION.into(), windows::STREAM.into());
    config.set_initial_max_data(connection);
    config.set_max_connection_window(connection);
    config.set_initial_max_stream_data_bidi_local(stream);
    config.set_initial_max_stream_data_bidi_remote(stream);
    config.set_initial_max_stream_data_uni(stream);
    config.set_max_stream_window(stream);
    config.set_initial_max_streams_bidi(windows::STREAMS.into());
    config.set_initial_max_streams_uni(UNIDIRECTIONAL_STREAMS);
    Ok(config)
}

/// A new connection ID.
pub fn connection_id() -> Result<quiche::ConnectionId<'static>> {
    let mut id = vec![0; quiche::MAX_CONN_ID_LEN];
    boring::rand::rand_bytes(&mut id)?;
    Ok(quiche::ConnectionId::from_vec(id))
}
