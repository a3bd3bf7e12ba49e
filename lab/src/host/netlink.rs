//! The few requests of rtnetlink that a lab makes, in the namespace of the calling thread.

use std::net::{IpAddr, Ipv6Addr};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::AddressFamily;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use netlink_packet_route::link::{InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::net::if_::if_nametoindex;

use crate::files::trial::Tcp;

/// Links are /30 networks of IPv4, with two usable addresses, and /64 networks of IPv6.
const PREFIX: u8 = 30;
const PREFIX6: u8 = 64;

/// Place of the least retransmission time among a route's metrics (linux/rtnetlink.h).
const RTAX_RTO_MIN: u32 = 13;
const NS_PER_MS: u64 = 1_000_000;
/// Bytes of each segment that its timestamps take of what hosts advertise as their largest one.
const TIMESTAMPS: u32 = 12;

const RUNNING_TIMEOUT: Duration = Duration::from_secs(3);

/// A network: its first address, and how many bits all of its addresses have in common.
pub type Subnet = (IpAddr, u8);

/// Of the addresses of a link, of one family.
pub fn near(address: IpAddr) -> Subnet {
    match address {
        IpAddr::V4(four) => {
            let first = u32::from(four) & (u32::MAX << (32 - PREFIX));
            (IpAddr::V4(first.into()), PREFIX)
        }
        IpAddr::V6(six) => {
            let first = u128::from(six) & (u128::MAX << (128 - PREFIX6));
            (Ipv6Addr::from(first).into(), PREFIX6)
        }
    }
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

pub struct Netlink {
    socket: Socket,
}

impl Netlink {
    pub fn open() -> Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE).context("opening a netlink socket")?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket })
    }

    pub fn bring_up(&self, device: &str) -> Result<()> {
        self.set(device, vec![]).with_context(|| format!("bringing up {device}"))
    }

    /// Sets how many packets may wait for the device's reader, and brings it up.
    pub fn bring_up_with_queue(&self, device: &str, packets: u32) -> Result<()> {
        self.set(device, vec![LinkAttribute::TxQueueLen(packets)]).with_context(|| format!("bringing up {device}"))
    }

    fn set(&self, device: &str, attributes: Vec<LinkAttribute>) -> Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = if_nametoindex(device)?;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        message.attributes = attributes;
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Creates a veth pair: one end here, the other under the same name in another namespace.
    pub fn create_veth(&self, device: &str, other: BorrowedFd) -> Result<()> {
        let mut peer = LinkMessage::default();
        peer.attributes = vec![LinkAttribute::IfName(device.into()), LinkAttribute::NetNsFd(other.as_raw_fd())];
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(device.into()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
            ]),
        ];
        self.request(RouteNetlinkMessage::NewLink(message), NLM_F_CREATE | NLM_F_EXCL)
            .with_context(|| format!("creating the veth pair {device}"))
    }

    /// Gives a device an address, without the route that the kernel would add by itself, and without asking whether others
    /// have it.
    pub fn add_address(&self, device: &str, address: IpAddr) -> Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = near(address).1;
        message.header.index = if_nametoindex(device)?;
        let flags = match address {
            IpAddr::V4(_) => AddressFlags::Noprefixroute,
            IpAddr::V6(_) => AddressFlags::Noprefixroute | AddressFlags::Nodad,
        };
        message.attributes =
            vec![AddressAttribute::Local(address), AddressAttribute::Address(address), AddressAttribute::Flags(flags)];
        self.request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
            .with_context(|| format!("adding {address} to {device}"))
    }

    /// Routes a network to a device with that address. What TCP does there are attributes of the route: a sysctl would refuse
    /// restricted congestion controllers here, and belongs to the machine; the others have none.
    pub fn add_route(
        &self,
        device: &str,
        address: IpAddr,
        to: Subnet,
        congestion: Option<&str>,
        tcp: Tcp,
    ) -> Result<()> {
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            address_family: family(address),
            destination_prefix_length: to.1,
            table: RouteHeader::RT_TABLE_MAIN,
            protocol: RouteProtocol::Static,
            scope: RouteScope::Link,
            kind: RouteType::Unicast,
            ..Default::default()
        };
        message.attributes = vec![
            RouteAttribute::Destination(to.0.into()),
            RouteAttribute::PrefSource(address.into()),
            RouteAttribute::Oif(if_nametoindex(device)?),
        ];
        let metrics = metrics(congestion, tcp);
        if !metrics.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(metrics));
        }
        self.request(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
            .with_context(|| format!("adding the route of {device}"))
    }

    /// What the route that leads to `peer` asks of TCP.
    pub fn tcp_towards(&self, peer: IpAddr) -> Result<Tcp> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(peer);
        message.header.destination_prefix_length = if peer.is_ipv4() { 32 } else { 128 };
        message.attributes = vec![RouteAttribute::Destination(peer.into())];
        match self.exchange(RouteNetlinkMessage::GetRoute(message), NLM_F_REQUEST)? {
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewRoute(route)) => Ok(tcp_of(&route.attributes)),
            other => bail!("an unexpected netlink answer: {other:?}"),
        }
    }

    /// Waits until a device passes packets. A veth whose other end has just come up drops them until the kernel
    /// has attached its queue, and a dropped address request or SYN would cost the first connection a second.
    pub fn wait_until_running(&self, device: &str) -> Result<()> {
        let deadline = Instant::now() + RUNNING_TIMEOUT;
        while !self.is_running(device)? {
            if Instant::now() > deadline {
                bail!("{device} did not come up within {RUNNING_TIMEOUT:?}");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn is_running(&self, device: &str) -> Result<bool> {
        let mut message = LinkMessage::default();
        message.header.index = if_nametoindex(device)?;
        let answer = self.exchange(RouteNetlinkMessage::GetLink(message), NLM_F_REQUEST)?;
        match answer {
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link)) => {
                Ok(link.header.flags.contains(LinkFlags::Running))
            }
            other => bail!("an unexpected netlink answer: {other:?}"),
        }
    }

    fn request(&self, message: RouteNetlinkMessage, flags: u16) -> Result<()> {
        match self.exchange(message, NLM_F_REQUEST | NLM_F_ACK | flags)? {
            NetlinkPayload::Error(error) if error.code.is_none() => Ok(()),
            NetlinkPayload::Error(error) => Err(error.to_io().into()),
            other => bail!("an unexpected netlink answer: {other:?}"),
        }
    }

    fn exchange(&self, message: RouteNetlinkMessage, flags: u16) -> Result<NetlinkPayload<RouteNetlinkMessage>> {
        let mut request = NetlinkMessage::from(message);
        request.header.flags = flags;
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        Ok(NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)?.payload)
    }
}

/// The attributes that make TCP so.
fn metrics(congestion: Option<&str>, tcp: Tcp) -> Vec<RouteMetric> {
    let controller = congestion.map(|name| RouteMetric::CcAlgo(name.into()));
    let window = tcp.initial_window.map(RouteMetric::InitCwnd);
    // The kernel heeds a least retransmission time that is locked, and no other.
    let least = tcp.min_rto_ns.map(|ns| {
        let ms = u32::try_from(ns / NS_PER_MS).expect("validated: at most 60 s");
        [RouteMetric::Lock(1 << RTAX_RTO_MIN), RouteMetric::RtoMin(ms)]
    });
    let least = least.into_iter().flatten();
    // Both ends' routes advertise it, so that neither sends more.
    let largest = tcp.max_payload.map(|n| RouteMetric::Advmss(n + TIMESTAMPS));
    let prompt = tcp.quick_ack.then_some(RouteMetric::QuickAck(1));
    let metrics = controller.into_iter().chain(window).chain(least);
    metrics.chain(largest).chain(prompt).collect()
}

fn tcp_of(attributes: &[RouteAttribute]) -> Tcp {
    let mut tcp = Tcp::default();
    for attribute in attributes {
        let RouteAttribute::Metrics(metrics) = attribute else {
            continue;
        };
        for metric in metrics {
            match metric {
                RouteMetric::InitCwnd(packets) => tcp.initial_window = Some(*packets),
                RouteMetric::RtoMin(ms) => tcp.min_rto_ns = Some(u64::from(*ms) * NS_PER_MS),
                RouteMetric::Advmss(bytes) => tcp.max_payload = Some(*bytes - TIMESTAMPS),
                RouteMetric::QuickAck(on) => tcp.quick_ack = *on != 0,
                _ => {}
            }
        }
    }
    tcp
}
