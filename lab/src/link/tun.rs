//! A TUN device: the end of an emulated link inside a host.
//!
//! Each frame comes with the 10-byte virtio-net header. The device accepts partial checksums, which stay valid for the
//! receiver when the header is passed on, and super-packets, which the sender's kernel has not cut into segments
//! (`super_packet`).

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use anyhow::{Context, Result};

use crate::files::refusal::Refusal;
use crate::files::trial::{LinkKind, Trial};
use crate::host::monotonic::now_ns;
use crate::link::arrival::Arrivals;

/// `struct virtio_net_hdr`.
pub const HEADER: usize = 10;
const MTU: usize = 1500;
/// Large enough for any packet that is not a super-packet.
pub const FRAME: usize = HEADER + MTU;
/// Large enough for any frame the device hands out.
pub const LONGEST: usize = HEADER + (1 << 16);
/// What the device may leave to the link: checksums, and the segmentation of TCP (`TUN_F_TSO4`, `TUN_F_TSO6`).
const OFFLOADS: libc::c_uint = 0x1 | 0x2 | 0x4;
/// And of UDP (`TUN_F_USO4`, `TUN_F_USO6`), from Linux 6.2 on.
const UDP_OFFLOADS: libc::c_uint = 0x20 | 0x40;

const DEVICE: &str = "/dev/net/tun";

nix::ioctl_write_ptr_bad!(tun_set_interface, libc::TUNSETIFF, libc::ifreq);
nix::ioctl_write_int_bad!(tun_set_offload, libc::TUNSETOFFLOAD);

pub struct Tun {
    file: File,
    /// None where the kernel does not stamp: then a packet arrives when it is read.
    arrivals: Option<Arrivals>,
}

/// What was read.
pub struct FrameArrival {
    /// Of the frame, header included.
    pub length: usize,
    pub at_ns: u64,
}

/// Why there are no TUN devices here.
pub struct Closed {
    pub detail: String,
    pub remedy: &'static str,
}

/// Whether this user can open what devices are made through.
pub fn openable() -> Result<(), Closed> {
    let Err(error) = open() else { return Ok(()) };
    // The first is said where the device is there, but not handed on: by a container's device rules or a `nodev` mount.
    let (what, remedy) = match error.kind() {
        ErrorKind::PermissionDenied if !nix::unistd::geteuid().is_root() => {
            ("is closed to this user", "sudo chmod 666 /dev/net/tun, or use sudo")
        }
        ErrorKind::PermissionDenied => {
            ("cannot be opened, even by root", "start the container with --device /dev/net/tun")
        }
        ErrorKind::NotFound => {
            ("is missing", "load the module (modprobe tun); in a container, pass --device /dev/net/tun")
        }
        _ => ("does not work", "load the module (modprobe tun) on the machine itself, not in a container"),
    };
    Err(Closed { detail: format!("{DEVICE} {what}"), remedy })
}

/// What emulated links are made of, for a trial that has some.
pub fn require(trial: &Trial) -> Result<(), Refusal> {
    let needed = trial.links.iter().any(|link| link.kind == LinkKind::Emulated);
    if !needed {
        return Ok(());
    }
    openable().map_err(|closed| {
        Refusal::machine(format!("{}; emulated links are made from it: {}", closed.detail, closed.remedy))
    })
}

fn open() -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(DEVICE)
}

impl Tun {
    /// Creates the device in the network namespace of the calling thread. It goes when this is dropped.
    pub fn create(name: &str) -> Result<Self> {
        let file = open().with_context(|| format!("opening {DEVICE}"))?;
        // SAFETY: all-zero is a valid ifreq.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(libc::IFNAMSIZ - 1)) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
        // SAFETY: the descriptor is open and the ifreq outlives the call.
        unsafe {
            tun_set_interface(file.as_raw_fd(), &request).with_context(|| format!("creating the TUN device {name}"))?;
            tun_set_offload(file.as_raw_fd(), (OFFLOADS | UDP_OFFLOADS) as libc::c_int)
                .or_else(|_| tun_set_offload(file.as_raw_fd(), OFFLOADS as libc::c_int))
                .context("setting checksum and segmentation offload")?;
        }
        let arrivals = Arrivals::of(&file);
        Ok(Self { file, arrivals })
    }

    /// Makes the kernel cut super-packets before they reach this device.
    #[cfg(test)]
    pub fn refuse_super_packets(&self) {
        // SAFETY: the descriptor is open.
        unsafe { tun_set_offload(self.file.as_raw_fd(), 1) }.unwrap();
    }

    /// Whether packets are stamped by the kernel.
    pub fn stamps(&self) -> bool {
        self.arrivals.is_some()
    }

    /// Packets so far that found the device's queue full, as far as that is known.
    pub fn dropped(&self) -> u64 {
        self.arrivals.as_ref().map_or(0, Arrivals::dropped)
    }

    /// The next frame, if one is waiting. `frame` has room for `LONGEST` bytes.
    pub fn read(&mut self, frame: &mut [u8]) -> std::io::Result<Option<FrameArrival>> {
        match (&self.file).read(frame) {
            Ok(length) => {
                Ok(Some(FrameArrival { length, at_ns: self.arrivals.as_mut().map_or_else(now_ns, Arrivals::next) }))
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                self.rest();
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// Nothing is waiting.
    pub fn rest(&mut self) {
        self.arrivals.iter_mut().for_each(Arrivals::settle);
    }

    /// Hands a frame to the host. One that is no IP packet (a raw socket can send anything) has arrived too, though the host
    /// refuses it.
    pub fn write(&self, frame: &[u8]) -> std::io::Result<()> {
        accepted((&self.file).write(frame))
    }

    /// The same with a frame in two parts.
    pub fn write_parts(&self, head: &[u8], payload: &[u8]) -> std::io::Result<()> {
        let parts = [IoSlice::new(head), IoSlice::new(payload)];
        accepted((&self.file).write_vectored(&parts))
    }

    /// Throws away what is waiting.
    pub fn drain(&mut self) -> std::io::Result<()> {
        let mut frame = [0; LONGEST];
        while self.read(&mut frame)?.is_some() {}
        Ok(())
    }
}

fn accepted(written: std::io::Result<usize>) -> std::io::Result<()> {
    match written {
        Err(e) if e.kind() != ErrorKind::InvalidInput => Err(e),
        _ => Ok(()),
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
