//! The hosts of a trial and the links between them.

use std::net::{IpAddr, Ipv6Addr};

use anyhow::{Context, Result, ensure};

use crate::files::message::Message;
use crate::files::trial::{End, Link, LinkKind, Tcp, Trial, moved};
use crate::host::namespace::Host;
use crate::host::netlink::{Netlink, Subnet};
use crate::host::realtime;
use crate::host::tcp;
use crate::link::cross_traffic::CrossTraffic;
use crate::link::emulated::Emulated;
use crate::link::tun::Tun;

/// All global unicast addresses (RFC 4291).
const GLOBAL_IPV6: Subnet = (IpAddr::V6(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0)), 3);

pub struct Network {
    pub hosts: Vec<Host>,
    /// In the order of the trial's links; none for a veth.
    pub links: Vec<Option<Emulated>>,
    /// In the order of the hosts: what is in force of TCP, if the host has a link.
    pub tcp: Vec<Option<InForce>>,
    /// The process with the links in it is kept from being swapped out.
    pub memory_locked: bool,
    pub warnings: Vec<Message>,
}

/// What TCP does on a host, as found there.
#[derive(Clone)]
pub struct InForce {
    pub congestion: String,
    pub tcp: Tcp,
}

impl Network {
    pub fn build(trial: &Trial) -> Result<Self> {
        if let Some(name) = &trial.congestion {
            tcp::require_congestion(name)?;
        }
        let hosts = trial
            .hosts
            .iter()
            .map(|name| Host::with_families(name, trial.has_ipv6(name)))
            .collect::<Result<Vec<_>>>()?;
        let mut network =
            Self { tcp: vec![None; hosts.len()], hosts, links: vec![], memory_locked: false, warnings: vec![] };
        for (index, link) in trial.links.iter().enumerate() {
            network.lay(index, link, trial).with_context(|| format!("link {}", link.name))?;
        }
        network.route_ipv6(trial)?;
        network.warn();
        Ok(network)
    }

    /// The position of a host that the trial is known to have.
    pub fn position(&self, host: &str) -> usize {
        self.hosts.iter().position(|h| h.name == host).expect("validated: roles and links name known hosts")
    }

    pub fn host(&self, name: &str) -> &Host {
        &self.hosts[self.position(name)]
    }

    /// Lets cross traffic begin; how long it is to go on before the main role starts, ns.
    pub fn start_cross_traffic(&mut self) -> Result<u64> {
        let crossed = self.links.iter_mut().flatten();
        let mut starts = crossed.filter_map(|emulated| Some(emulated.cross.as_mut()?.start()));
        starts.try_fold(0, |longest, ahead_ns| Ok(ahead_ns?.max(longest)))
    }

    fn lay(&mut self, index: usize, link: &Link, trial: &Trial) -> Result<()> {
        let device = format!("h123-{index}");
        let emulated = match link.kind {
            LinkKind::Veth => {
                let other = self.host(&link.b.host).namespace();
                self.host(&link.a.host).within(|| Netlink::open()?.create_veth(&device, other))?;
                self.address_both(link, &device, trial)?;
                None
            }
            LinkKind::Emulated => {
                let create = |end: &End| self.host(&end.host).within(|| Tun::create(&device));
                let tuns = [create(&link.a)?, create(&link.b)?];
                self.address_both(link, &device, trial)?;
                if !link.moves.is_empty() {
                    self.route_to_moved_client(index, &link.b, &device, trial)?;
                }
                let cross = link.cross.as_ref();
                let cross = cross.map(|traffic| CrossTraffic::lay(traffic, &device));
                let cross = cross.transpose().context("cross traffic")?;
                Some(Emulated::start(tuns, cross, link, index, trial.seed)?)
            }
        };
        self.links.push(emulated);
        Ok(())
    }

    /// Routes all IPv6 addresses over a host's first link that has IPv6. A browser uses IPv6 only if it finds a route to the
    /// Internet; it sends nothing there.
    fn route_ipv6(&self, trial: &Trial) -> Result<()> {
        for host in &self.hosts {
            let ends = trial.links.iter().enumerate();
            let mut ends = ends.flat_map(|(index, link)| [(index, &link.a), (index, &link.b)]);
            let first = ends.find_map(|(index, end)| (end.host == host.name).then_some((index, end.address6?)));
            if let Some((index, own)) = first {
                let device = format!("h123-{index}");
                host.within(|| Netlink::open()?.add_route(&device, own.into(), GLOBAL_IPV6, None, trial.tcp))?;
            }
        }
        Ok(())
    }

    /// Addresses and routes at both ends, then what they make of TCP.
    fn address_both(&mut self, link: &Link, device: &str, trial: &Trial) -> Result<()> {
        let ends = [(&link.a, &link.b), (&link.b, &link.a)];
        for (end, _) in ends {
            let host = self.host(&end.host);
            host.within(|| tcp::apply(trial.tcp))?;
            for address in end.addresses() {
                host.address(device, address, trial.congestion.as_deref(), trial.tcp)?;
            }
        }
        for (end, peer) in ends {
            self.host(&end.host).wait_until_running(device)?;
            for address in peer.addresses() {
                let in_force = self.host(&end.host).within(|| {
                    let netlink = Netlink::open()?;
                    Ok(InForce {
                        congestion: tcp::congestion_towards(address)?,
                        tcp: tcp::in_force(netlink.tcp_towards(address)?)?,
                    })
                })?;
                in_force.agrees_with(trial).with_context(|| format!("TCP on host {} to {address}", end.host))?;
                let position = self.position(&end.host);
                self.tcp[position] = Some(in_force);
            }
        }
        Ok(())
    }

    /// Answers find the addresses that the client moves to.
    fn route_to_moved_client(&self, index: usize, end: &End, device: &str, trial: &Trial) -> Result<()> {
        let to = (moved::network(index).into(), moved::PREFIX);
        let congestion = trial.congestion.as_deref();
        self.host(&end.host)
            .within(|| Netlink::open()?.add_route(device, end.address.into(), to, congestion, trial.tcp))
    }

    fn warn(&mut self) {
        if self.links.iter().flatten().any(|e| !e.link.realtime) {
            self.warnings.push(Message::new(
                "no-realtime",
                "the machine refuses real-time priority (SCHED_FIFO), so packets may leave late when it is busy: run as root outside a cgroup-v1 cpu group, or allow --ulimit rtprio=99 and CAP_SYS_NICE",
            ));
        }
        if self.links.iter().all(Option::is_none) {
            return;
        }
        self.memory_locked = realtime::lock_memory();
        if !self.memory_locked {
            self.warnings
                .push(Message::new("no-memory-lock", "the machine refuses to lock the link's memory (mlockall)"));
        }
    }
}

impl InForce {
    /// Fails where the trial asks for something else.
    fn agrees_with(&self, trial: &Trial) -> Result<()> {
        if let Some(controller) = &trial.congestion {
            ensure!(
                self.congestion == *controller,
                "its congestion controller is \"{}\" instead of \"{controller}\"",
                self.congestion
            );
        }
        ensure!(self.tcp == trial.tcp, "it has {:?} instead of {:?}", self.tcp, trial.tcp);
        Ok(())
    }
}
