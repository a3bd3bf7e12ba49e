//! What can be chosen about an endpoint, and what it makes of quiche's configuration.

use napi_derive::napi;
use quiche::Config;

/// Bytes of a UDP datagram at most; fits every path of 1400 bytes, IPv6 included.
pub const DATAGRAM: usize = 1350;

/// Milliseconds of silence after which a connection is over.
const PATIENCE: u64 = 120_000;

/// Other connection IDs a client may have at a time, for new paths.
const CONNECTION_IDS: u64 = 4;

#[napi(object)]
pub struct Settings {
    pub address: String,
    pub port: u16,
    /// PEM files.
    pub cert: String,
    pub key: String,
    /// Key exchanges, as in BoringSSL's lists.
    pub groups: String,
    /// cubic, reno or bbr (version 2 of it).
    pub congestion: String,
    /// Packets; none: quiche's own number.
    pub initial_window: Option<u32>,
    pub stream_window: u32,
    pub connection_window: u32,
    pub max_streams: u32,
    /// Folder for qlog files, if wanted.
    pub qlog: Option<String>,
}

impl Settings {
    pub fn quic(&self) -> quiche::Result<Config> {
        let mut config = Config::new(quiche::PROTOCOL_VERSION)?;
        config.load_cert_chain_from_pem_file(&self.cert)?;
        config.load_priv_key_from_pem_file(&self.key)?;
        config.set_curves_list(&self.groups)?;
        config.set_application_protos(quiche::h3::APPLICATION_PROTOCOL)?;
        config.set_cc_algorithm_name(&self.congestion)?;
        if let Some(packets) = self.initial_window {
            config.set_initial_congestion_window_packets(packets as usize);
        }
        config.enable_early_data();
        config.set_max_idle_timeout(PATIENCE);
        config.set_max_recv_udp_payload_size(1500);
        config.set_max_send_udp_payload_size(DATAGRAM);
        config.set_active_connection_id_limit(CONNECTION_IDS);
        config.set_initial_max_data(self.connection_window.into());
        config.set_max_connection_window(self.connection_window.into());
        config.set_initial_max_stream_data_bidi_remote(self.stream_window.into());
        config.set_initial_max_stream_data_uni(self.stream_window.into());
        config.set_max_stream_window(self.stream_window.into());
        config.set_initial_max_streams_bidi(self.max_streams.into());
        config.set_initial_max_streams_uni(3); // HTTP/3's control stream and QPACK's two
        Ok(config)
    }
}
