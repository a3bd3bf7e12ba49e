//! What a server is told by its command line.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use crate::command::{Flags, Result};
use crate::protocol::Protocol;
use crate::sending::Sending;

pub struct Serving {
    pub address: SocketAddr,
    pub protocol: Protocol,
    /// Certificate chain and its private key, PEM files.
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// Of QUIC; TCP has what the kernel gives it.
    pub sending: Sending,
    /// Folder for a qlog file a connection; none: nothing is logged.
    pub qlog: Option<PathBuf>,
}

impl Serving {
    pub fn parse(mut flags: Flags) -> Result<Self> {
        let address: IpAddr = Flags::number(&flags.take("address")?, "address")?;
        let port: u16 = Flags::number(&flags.take("port")?, "port")?;
        let qlog = flags.take("qlog")?;
        let serving = Self {
            address: SocketAddr::new(address, port),
            protocol: flags.take("protocol")?.parse()?,
            certificate: flags.take("cert")?.into(),
            key: flags.take("key")?.into(),
            sending: Sending::take(&mut flags)?,
            qlog: (!qlog.is_empty()).then(|| qlog.into()),
        };
        flags.finish()?;
        Ok(serving)
    }
}
