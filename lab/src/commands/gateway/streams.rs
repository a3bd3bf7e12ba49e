//! TCP: each connection's bytes go on over another one, both ways, until both ways have ended.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use anyhow::Result;

use super::PATIENCE;
use crate::host::outside::Outside;

const PIECE: usize = 1 << 16;

/// Takes connections for as long as the listener does.
pub fn pass(listener: &TcpListener, to: SocketAddr, outside: &Arc<Outside>) {
    while let Ok((client, _)) = listener.accept() {
        let outside = Arc::clone(outside);
        thread::spawn(move || {
            if let Err(error) = join(client, to, &outside) {
                eprintln!("gateway: {error:#}");
            }
        });
    }
}

fn join(mut client: TcpStream, to: SocketAddr, outside: &Outside) -> Result<()> {
    let mut server = outside.within(|| Ok(TcpStream::connect_timeout(&to, PATIENCE)?))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut asking, mut asked) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || carry(&mut asking, &mut asked));
    carry(&mut server, &mut client);
    Ok(())
}

/// One way. Its end is passed on; where either side has broken off, so does the other.
fn carry(from: &mut TcpStream, to: &mut TcpStream) {
    let mut piece = vec![0; PIECE];
    let ended = loop {
        match from.read(&mut piece) {
            Ok(0) => break true,
            Ok(length) if to.write_all(&piece[..length]).is_ok() => {}
            _ => break false,
        }
    };
    // Either may be gone already.
    if ended {
        let _ = to.shutdown(Shutdown::Write);
    } else {
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    }
}
