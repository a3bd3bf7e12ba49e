//! A host: a network namespace of its own, without a name anywhere.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread::Builder;

use anyhow::{Context, Result};
use nix::sched::{CloneFlags, setns};

use crate::files::trial::Tcp;
use crate::host::account;
use crate::host::connection_table;
use crate::host::inet_diag::{Connection, InetDiag};
use crate::host::netlink::{Netlink, near};

/// Packets that may wait for a link's thread: more than it ever leaves waiting, so that only the link drops.
const DEVICE_QUEUE: u32 = 10_000;

const OFF: [(&str, &str); 1] = [("disable_ipv6", "1")];
/// No link-local address, no question to routers, and none whether an address is taken.
const QUIET: [(&str, &str); 6] = [
    ("disable_ipv6", "0"),
    ("addr_gen_mode", "1"),
    ("accept_ra", "0"),
    ("autoconf", "0"),
    ("router_solicitations", "0"),
    ("accept_dad", "0"),
];

pub struct Host {
    pub name: String,
    namespace: OwnedFd,
    tables: Tables,
    /// None where the kernel has no such thing.
    diag: Option<InetDiag>,
}

/// Files of `/proc/net`, opened inside the namespace: they keep showing it to whoever reads them.
struct Tables {
    sockets: [File; 4],
    unix: File,
    counters: [File; 2],
    /// Of IPv6, if the host has it.
    counters6: Option<File>,
}

impl Host {
    /// A new namespace with its loopback up and IPv6 off.
    pub fn create(name: &str) -> Result<Self> {
        Self::with_families(name, false)
    }

    /// The same, with or without IPv6, which has only the addresses that it is given: packets of autoconfiguration would
    /// shift the numbering of packets on emulated links.
    pub fn with_families(name: &str, ipv6: bool) -> Result<Self> {
        let create = || -> Result<Self> {
            connection_table::unshare_network()?;
            set_ipv6(if ipv6 { &QUIET } else { &OFF }, ipv6)?;
            Netlink::open()?.bring_up("lo")?;
            Ok(Self {
                name: name.into(),
                namespace: File::open("/proc/thread-self/ns/net")?.into(),
                tables: Tables::open(ipv6)?,
                diag: InetDiag::open().ok(),
            })
        };
        on_a_thread(create).with_context(|| format!("creating host {name}"))
    }

    /// Runs `work` inside the host's namespace, on a thread of its own.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        within(self.namespace(), work).with_context(|| format!("on host {}", self.name))
    }

    /// Gives a device an address, and TCP towards its neighbour these attributes.
    pub fn address(&self, device: &str, own: IpAddr, congestion: Option<&str>, tcp: Tcp) -> Result<()> {
        self.within(|| {
            let netlink = Netlink::open()?;
            netlink.add_address(device, own)?;
            netlink.bring_up_with_queue(device, DEVICE_QUEUE)?;
            netlink.add_route(device, own, near(own), congestion, tcp)
        })
    }

    pub fn wait_until_running(&self, device: &str) -> Result<()> {
        self.within(|| Netlink::open()?.wait_until_running(device))
    }

    pub fn namespace(&self) -> BorrowedFd<'_> {
        self.namespace.as_fd()
    }

    /// `/proc/net/{tcp,tcp6}` and `/proc/net/{udp,udp6}`, the text of each pair concatenated.
    pub fn sockets(&mut self) -> Result<(String, String)> {
        let [tcp, tcp6, udp, udp6] = &mut self.tables.sockets;
        Ok((reread(tcp)? + &reread(tcp6)?, reread(udp)? + &reread(udp6)?))
    }

    /// `/proc/net/unix`.
    pub fn unix_sockets(&mut self) -> Result<String> {
        reread(&mut self.tables.unix)
    }

    /// Those of `/proc/net/snmp` and `/proc/net/netstat`. What is counted of UDP over IPv6 is added to UDP's.
    pub fn counters(&mut self) -> Result<BTreeMap<String, i64>> {
        let [snmp, netstat] = &mut self.tables.counters;
        let mut all = account::counters(&(reread(snmp)? + &reread(netstat)?));
        if let Some(snmp6) = &mut self.tables.counters6 {
            for (name, number) in account::udp6_counters(&reread(snmp6)?) {
                *all.entry(name).or_default() += number;
            }
        }
        Ok(all)
    }

    /// TCP's connections; None where the kernel does not tell.
    pub fn connections(&self) -> Option<Vec<Connection>> {
        self.diag.as_ref()?.connections().ok()
    }
}

impl Tables {
    fn open(ipv6: bool) -> Result<Self> {
        let open = |name: &str| {
            let path = format!("/proc/thread-self/net/{name}");
            File::open(&path).or_else(|e| match e.kind() {
                // A kernel without IPv6.
                ErrorKind::NotFound if name.ends_with('6') => File::open("/dev/null"),
                _ => Err(e),
            })
        };
        Ok(Self {
            sockets: [open("tcp")?, open("tcp6")?, open("udp")?, open("udp6")?],
            unix: open("unix")?,
            counters: [open("snmp")?, open("netstat")?],
            counters6: ipv6.then(|| open("snmp6")).transpose()?,
        })
    }
}

fn reread(file: &mut File) -> Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// A kernel without IPv6 has no such settings, which is right where it is not `needed`.
fn set_ipv6(settings: &[(&str, &str)], needed: bool) -> Result<()> {
    for scope in ["all", "default"] {
        for (setting, value) in settings {
            let path = format!("/proc/sys/net/ipv6/conf/{scope}/{setting}");
            match std::fs::write(&path, value) {
                Err(e) if e.kind() == ErrorKind::NotFound && !needed => {}
                Err(e) => return Err(e).context(path),
                Ok(()) => {}
            }
        }
    }
    Ok(())
}

/// Runs `work` inside a network namespace, on a thread of its own.
pub fn within<T: Send>(namespace: BorrowedFd, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    on_a_thread(|| {
        setns(namespace, CloneFlags::CLONE_NEWNET)?;
        work()
    })
}

fn on_a_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, work).context("starting a thread")?;
        thread.join().expect("a namespace's thread does not panic")
    })
}
