//! s2n-quic's configuration.

use crate::certificate::Wait;
use h123_common::command::{Failure, Result};
use h123_common::serving::Serving;
use h123_common::{udp, windows};
use s2n_quic::Server;
use s2n_quic::provider::congestion_controller::{self, bbr, cubic};
use s2n_quic::provider::io::tokio::Provider as Io;
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls;

/// For HTTP/3's control and QPACK streams, and any that a client greases with.
const UNIDIRECTIONAL_STREAMS: u64 = 100;
/// The payload of the datagrams that a connection begins with by itself.
const DATAGRAM: u16 = 1200;
/// Of IPv4 and UDP, which s2n-quic counts to what it calls the MTU.
const HEADERS: u16 = 28;

pub fn server(serving: &Serving, wait: Option<Wait>) -> Result<Server> {
    let datagram = u32::from(serving.sending.max_datagram.unwrap_or(DATAGRAM));
    let bytes = serving.sending.initial_window.map(|n| n * datagram);
    match serving.sending.congestion.as_str() {
        "cubic" => {
            let builder = cubic::Builder::default();
            with(
                beginning(
                    builder,
                    bytes,
                    cubic::Builder::with_initial_congestion_window,
                )
                .build(),
                serving,
                wait,
            )
        }
        "bbr" => {
            let builder = bbr::Builder::default();
            with(
                beginning(builder, bytes, bbr::Builder::with_initial_congestion_window).build(),
                serving,
                wait,
            )
        }
        name => Err(Failure::unsupported(format!("congestion control {name}"))),
    }
}

/// The builder, told how many bytes to begin with, if any.
fn beginning<B>(builder: B, bytes: Option<u32>, tell: impl FnOnce(B, u32) -> B) -> B {
    match bytes {
        Some(bytes) => tell(builder, bytes),
        None => builder,
    }
}

fn with(
    controller: impl congestion_controller::Provider,
    serving: &Serving,
    wait: Option<Wait>,
) -> Result<Server> {
    let limits = Limits::new()
        .with_data_window(windows::CONNECTION.into())?
        .with_bidirectional_remote_data_window(windows::STREAM.into())?
        .with_unidirectional_data_window(windows::STREAM.into())?
        .with_max_send_buffer_size(windows::STREAM)?
        .with_max_open_remote_bidirectional_streams(windows::STREAMS.into())?
        .with_max_open_remote_unidirectional_streams(UNIDIRECTIONAL_STREAMS)?
        .with_max_idle_timeout(windows::IDLE)?;
    let socket = udp::bind(serving.address, false)?;
    let mut io = Io::builder().with_rx_socket(socket)?;
    if let Some(mtu) = serving.sending.max_datagram.map(|size| size + HEADERS) {
        io = io
            .with_initial_mtu(mtu)?
            .with_base_mtu(mtu)?
            .with_max_mtu(mtu)?;
    }
    let mut tls = tls::default::Server::builder()
        .with_certificate(serving.certificate.as_path(), serving.key.as_path())?;
    if let Some(wait) = wait {
        tls.config_mut().set_client_hello_callback(wait)?;
    }
    let server = Server::builder()
        .with_tls(tls.build()?)?
        .with_io(io.build()?)?
        .with_limits(limits)?
        .with_congestion_controller(controller)?
        .start()?;
    Ok(server)
}
