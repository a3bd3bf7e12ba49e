//! When packets arrived at a TUN device, as the kernel saw it: a stamp for each packet, taken while its sender was still
//! in the system call. A link that decides by these stamps decides as it would have without a stall of its own thread.
//!
//! A TUN device tells no times. So a filter of eleven instructions (eBPF, `TUNSETFILTEREBPF`) runs for every packet just before
//! it is queued for the reader: it lets all pass, and leaves the time in a ring that this process has mapped.
//! Where the machine refuses such programs, the time of reading has to do.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::libc;

use crate::host::monotonic::now_ns;

/// More than a device queues (`network::TUN_QUEUE`), so that no stamp is overwritten before its packet is read.
const STAMPS: usize = 1 << 14;
/// Stamps without a packet for so long belong to packets that the device has dropped.
const MISSING_AFTER_NS: u64 = 50_000_000;

nix::ioctl_read!(tun_set_filter, b'T', 225, libc::c_int);

/// The ring as both sides see it: how many packets there were, and when the last `STAMPS` of them came.
#[repr(C)]
struct Ring {
    written: AtomicU64,
    stamps: [AtomicU64; STAMPS],
}

/// The stamps of one device, in the order of its packets.
pub struct Arrivals {
    ring: NonNull<Ring>,
    read: u64,
    /// Since when the device has been empty although stamps were left.
    missing_since: Option<u64>,
    /// Packets that the device dropped because its queue was full.
    dropped: u64,
}

// SAFETY: the mapping belongs to this value alone and is only read, through atomics.
unsafe impl Send for Arrivals {}

impl Arrivals {
    /// Stamps the packets of the device behind `tun`; None where the machine refuses.
    pub fn of(tun: &impl AsRawFd) -> Option<Self> {
        let map = bpf::ring_map()?;
        let program = bpf::load(&stamping(map.as_raw_fd()))?;
        let ring = map_memory(&map)?;
        let mut descriptor = program.as_raw_fd();
        // SAFETY: both descriptors are open, and the kernel reads one int.
        unsafe { tun_set_filter(tun.as_raw_fd(), &mut descriptor) }.ok()?;
        Some(Self { ring, read: 0, missing_since: None, dropped: 0 })
    }

    /// When the packet that was just read had arrived.
    pub fn next(&mut self) -> u64 {
        let stamp = self.ring().stamps[self.read as usize % STAMPS].load(Ordering::Acquire);
        self.read += 1;
        self.missing_since = None;
        stamp
    }

    /// The device is empty: stamps that stay without a packet are of packets that its queue had no room for.
    pub fn settle(&mut self) {
        let left = self.ring().written.load(Ordering::Acquire) - self.read;
        if left == 0 {
            self.missing_since = None;
            return;
        }
        let now = now_ns();
        if now - *self.missing_since.get_or_insert(now) > MISSING_AFTER_NS {
            self.dropped += left;
            self.read += left;
            self.missing_since = None;
        }
    }

    /// Packets so far that the device dropped before the link saw them.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn ring(&self) -> &Ring {
        // SAFETY: mapped as long as this value lives.
        unsafe { self.ring.as_ref() }
    }
}

impl Drop for Arrivals {
    fn drop(&mut self) {
        // SAFETY: mapped by `of` with this size; nobody refers to it any more.
        unsafe { libc::munmap(self.ring.as_ptr().cast(), size_of::<Ring>()) };
    }
}

fn map_memory(map: &OwnedFd) -> Option<NonNull<Ring>> {
    // SAFETY: a new mapping of an open descriptor; the map's value is as large as a ring.
    let memory = unsafe {
        libc::mmap(std::ptr::null_mut(), size_of::<Ring>(), libc::PROT_READ, libc::MAP_SHARED, map.as_raw_fd(), 0)
    };
    (memory != libc::MAP_FAILED).then(|| NonNull::new(memory.cast()))?
}

/// The filter: `ring.stamps[ring.written++ % STAMPS] = now; return everything`.
fn stamping(map: i32) -> [bpf::Instruction; 11] {
    use bpf::{Instruction as I, R0, R6, R7};
    let [low, high] = I::load_map_value(R6, map);
    [
        low,
        high,
        I::set(R7, 1),
        I::fetch_add(R6, R7),
        I::and(R7, STAMPS as i32 - 1),
        I::shift_left(R7, 3),
        I::add(R6, R7),
        I::CALL_TIME,
        I::store(R6, 8, R0),
        I::set32(R0, -1),
        I::EXIT,
    ]
}

/// The few calls and instructions of eBPF that are needed here (`linux/bpf.h`).
mod bpf {
    use super::{FromRawFd, OwnedFd, Ring, libc};

    const MAP_CREATE: libc::c_int = 0;
    const PROG_LOAD: libc::c_int = 5;
    const MAP_TYPE_ARRAY: u32 = 2;
    const F_MMAPABLE: u32 = 1 << 10;
    const PROG_TYPE_SOCKET_FILTER: u32 = 1;
    const PSEUDO_MAP_VALUE: u8 = 2;
    const KTIME_GET_NS: i32 = 5;

    pub const R0: u8 = 0;
    pub const R6: u8 = 6;
    pub const R7: u8 = 7;

    /// `struct bpf_insn`.
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Instruction {
        code: u8,
        /// Destination in the low half, source in the high half.
        registers: u8,
        offset: i16,
        immediate: i32,
    }

    impl Instruction {
        pub const CALL_TIME: Self = Self::new(0x85, 0, 0, 0, KTIME_GET_NS);
        pub const EXIT: Self = Self::new(0x95, 0, 0, 0, 0);

        const fn new(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Self {
            Self { code, registers: from << 4 | to, offset, immediate }
        }

        /// The address of the map's first value.
        pub const fn load_map_value(to: u8, map: i32) -> [Self; 2] {
            [Self::new(0x18, to, PSEUDO_MAP_VALUE, 0, map), Self::new(0, 0, 0, 0, 0)]
        }

        pub const fn set(to: u8, value: i32) -> Self {
            Self::new(0xb7, to, 0, 0, value)
        }

        pub const fn set32(to: u8, value: i32) -> Self {
            Self::new(0xb4, to, 0, 0, value)
        }

        pub const fn and(to: u8, value: i32) -> Self {
            Self::new(0x57, to, 0, 0, value)
        }

        pub const fn shift_left(to: u8, bits: i32) -> Self {
            Self::new(0x67, to, 0, 0, bits)
        }

        pub const fn add(to: u8, from: u8) -> Self {
            Self::new(0x0f, to, from, 0, 0)
        }

        /// Adds `amount` to the 64 bits at `address`; `amount` then holds what was there.
        pub const fn fetch_add(address: u8, amount: u8) -> Self {
            Self::new(0xdb, address, amount, 0, 0x01)
        }

        pub const fn store(address: u8, offset: i16, from: u8) -> Self {
            Self::new(0x7b, address, from, offset, 0)
        }
    }

    /// `union bpf_attr` of BPF_MAP_CREATE, as far as it is used.
    #[repr(C)]
    struct MapAttributes {
        kind: u32,
        key_size: u32,
        value_size: u32,
        max_entries: u32,
        flags: u32,
    }

    /// The same of BPF_PROG_LOAD.
    #[repr(C)]
    struct ProgramAttributes {
        kind: u32,
        count: u32,
        instructions: u64,
        license: u64,
        log_level: u32,
        log_size: u32,
        log: u64,
    }

    /// A map with one value, a ring, that can be mapped into memory.
    pub fn ring_map() -> Option<OwnedFd> {
        call(
            MAP_CREATE,
            &MapAttributes {
                kind: MAP_TYPE_ARRAY,
                key_size: 4,
                value_size: size_of::<Ring>() as u32,
                max_entries: 1,
                flags: F_MMAPABLE,
            },
        )
    }

    pub fn load(program: &[Instruction]) -> Option<OwnedFd> {
        call(
            PROG_LOAD,
            &ProgramAttributes {
                kind: PROG_TYPE_SOCKET_FILTER,
                count: program.len() as u32,
                instructions: program.as_ptr() as u64,
                license: c"Apache-2.0".as_ptr() as u64,
                log_level: 0,
                log_size: 0,
                log: 0,
            },
        )
    }

    fn call<T>(command: libc::c_int, attributes: &T) -> Option<OwnedFd> {
        // SAFETY: the attributes, and what they point to, outlive the call, and their size is told.
        let descriptor = unsafe { libc::syscall(libc::SYS_bpf, command, attributes, size_of::<T>()) };
        // SAFETY: the kernel has just made this descriptor for us.
        (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
    }

    const _: () = assert!(size_of::<Instruction>() == 8);
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};
    use std::time::Duration;

    use super::*;
    use crate::host::namespace::Host;
    use crate::host::netlink::{Netlink, near};
    use crate::link::tun::{LONGEST, Tun};

    const SENT: usize = 5;

    /// Needs root, like the lab.
    #[test]
    fn a_packet_arrives_when_it_is_sent_and_not_when_it_is_read() {
        let host = Host::create("arrival").unwrap();
        let (mut tun, socket) = host
            .within(|| {
                let tun = Tun::create("h123-arrival")?;
                let address = Ipv4Addr::new(10, 1, 0, 1).into();
                let netlink = Netlink::open()?;
                netlink.add_address("h123-arrival", address)?;
                netlink.bring_up("h123-arrival")?;
                netlink.add_route("h123-arrival", address, near(address), None, Default::default())?;
                Ok((tun, UdpSocket::bind((address, 0))?))
            })
            .unwrap();
        assert!(tun.stamps(), "this kernel refuses the filter (eBPF)");
        tun.drain().unwrap();
        let mut sent = vec![];
        for number in 0..SENT as u8 {
            std::thread::sleep(Duration::from_millis(5));
            let before = now_ns();
            socket.send_to(&[number; 8], (Ipv4Addr::new(10, 1, 0, 2), 9)).unwrap();
            sent.push(before..=now_ns());
        }
        std::thread::sleep(Duration::from_millis(30));
        let mut frame = [0; LONGEST];
        for times in sent {
            let arrival = tun.read(&mut frame).unwrap().expect("a packet for each that was sent");
            assert!(times.contains(&arrival.at_ns), "{} is not in {times:?}", arrival.at_ns);
        }
        assert!(tun.read(&mut frame).unwrap().is_none());
        assert_eq!(tun.dropped(), 0);
    }
}
