//! UDP sockets for QUIC.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};

/// What the lab's hosts allow; the kernel gives less where less is allowed.
const BUFFER: usize = 7_500_000;

/// Several sockets may be bound to the same address where all of them are `shared`: the kernel deals
/// the clients to them.
pub fn bind(address: SocketAddr, shared: bool) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    if shared {
        socket.set_reuse_port(true)?;
    }
    socket.set_recv_buffer_size(BUFFER)?;
    socket.set_send_buffer_size(BUFFER)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}
