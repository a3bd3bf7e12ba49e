//! MsQuic's configuration.

use std::path::Path;

use h123_common::command::{Failure, Result};
use h123_common::serving::Serving;
use h123_common::windows;
use msquic::{
    AllowedCipherSuiteFlags, Api, BufferRef, CertificateFile, Configuration, Credential,
    CredentialConfig, Registration, ServerResumptionLevel, Settings, ffi,
};

/// For HTTP/3's control and QPACK streams, and any that a client greases with.
const UNIDIRECTIONAL_STREAMS: u16 = 100;
/// Of IPv4 and UDP, which MsQuic counts to the MTU.
const HEADERS: u16 = 28;

pub fn configuration(registration: &Registration, serving: &Serving) -> Result<Configuration> {
    let mut settings = Settings::new();
    if let Some(packets) = serving.sending.initial_window {
        settings = settings.set_InitialWindowPackets(packets);
    }
    if let Some(mtu) = serving.sending.max_datagram.map(|size| size + HEADERS) {
        settings = settings.set_MinimumMtu(mtu).set_MaximumMtu(mtu);
    }
    let settings = settings
        .set_CongestionControlAlgorithm(controller(&serving.sending.congestion)?)
        .set_ServerResumptionLevel(ServerResumptionLevel::ResumeAndZerortt)
        .set_IdleTimeoutMs(windows::IDLE.as_millis() as u64)
        .set_PeerBidiStreamCount(windows::STREAMS as u16)
        .set_PeerUnidiStreamCount(UNIDIRECTIONAL_STREAMS)
        .set_ConnFlowControlWindow(windows::CONNECTION)
        // MsQuic takes powers of two only.
        .set_StreamRecvWindowDefault(windows::STREAM.next_power_of_two());
    let configuration =
        Configuration::open(registration, &[BufferRef::from("h3")], Some(&settings))?;
    let pair = CertificateFile::new(text(&serving.key)?, text(&serving.certificate)?);
    let credential = CredentialConfig::new()
        .set_credential(Credential::CertificateFile(pair))
        .set_allowed_cipher_suites(AllowedCipherSuiteFlags::AES_128_GCM_SHA256);
    configuration.load_credential(&credential)?;
    turn_off(&configuration, serving.sending.unpaced)?;
    Ok(configuration)
}

/// What the wrapper crate can only turn on. MsQuic shall send from our buffers and give each back when the peer has it,
/// where by itself it copies them; and pace, unless it shall not.
fn turn_off(configuration: &Configuration, pacing: bool) -> Result<()> {
    // SAFETY: the settings are numbers. Those that are said to be set are 0.
    unsafe {
        let mut settings: ffi::QUIC_SETTINGS = std::mem::zeroed();
        settings.__bindgen_anon_1.IsSet.set_SendBufferingEnabled(1);
        settings
            .__bindgen_anon_1
            .IsSet
            .set_PacingEnabled(pacing.into());
        Api::set_param(
            configuration.as_raw(),
            ffi::QUIC_PARAM_CONFIGURATION_SETTINGS,
            size_of_val(&settings) as u32,
            (&raw const settings).cast(),
        )?;
    }
    Ok(())
}

fn controller(name: &str) -> Result<u16> {
    let number = match name {
        "cubic" => ffi::QUIC_CONGESTION_CONTROL_ALGORITHM_QUIC_CONGESTION_CONTROL_ALGORITHM_CUBIC,
        "bbr" => ffi::QUIC_CONGESTION_CONTROL_ALGORITHM_QUIC_CONGESTION_CONTROL_ALGORITHM_BBR,
        _ => return Err(Failure::unsupported(format!("congestion control {name}"))),
    };
    Ok(number as u16)
}

fn text(path: &Path) -> Result<String> {
    let text = path
        .to_str()
        .ok_or_else(|| Failure::bad_input(format!("{path:?} is not UTF-8")))?;
    Ok(text.to_owned())
}
