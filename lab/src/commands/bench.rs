//! `bench`: what the links of this machine really do, beside what they were told, idle and with busy processors.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use h123_link::{Direction, Loss, Queue, Rate};
use nix::sys::socket::{
    MsgFlags, recv, setsockopt,
    sockopt::{RcvBufForce, UdpGsoSegment},
};
use serde::Serialize;

use crate::check::probe::Endpoint;
use crate::check::train::{SMALLEST, Train, overload};
use crate::check::train_check::{Quantiles, send_trains};
use crate::files::refusal::Refusal;
use crate::files::trial::{LinkKind, Profile, Trial};
use crate::host::account::{Machine, cpus, process_cpu_ns, thread_cpu_ns};
use crate::host::enclosure;
use crate::host::monotonic::now_ns;
use crate::link::course::Course;
use crate::link::emulated::Emulated;
use crate::link::network::Network;
use crate::link::tun;

const SEED: u64 = 123;
const MS: u64 = 1_000_000;
const DELAYS_MS: [u64; 2] = [30, 50];
const DELAY_PROBES: u64 = 2000;
const RATES_MBIT: [u64; 3] = [10, 20, 100];
const LOSSES: [f64; 2] = [0.005, 0.02];
const LOSS_PROBES: u64 = 20_000;
const FLOOD_SECONDS: u64 = 2;
/// As many as the kernel takes at once.
const FLOOD_SEGMENTS: usize = 64;
const TCP_PORT: u16 = 5201;
const SEGMENT: usize = 1200;
const SEGMENTS: usize = 20;
const BATCHES: usize = 500;

const IDLE: &str = "idle";

/// One measured figure and its bar.
#[derive(Serialize)]
struct Figure {
    load: &'static str,
    figure: String,
    configured: String,
    measured: String,
    bar: &'static str,
    met: bool,
    /// Processor time that other guests of the same host took meanwhile: a missed bar may be theirs.
    steal_ns: u64,
}

/// Prints the figures; exit status 0 if all bars are met, 1 if not.
pub fn bench(json: bool) -> Result<u8, Refusal> {
    tun::require()?;
    enclosure::run(true, || match measure_all(json) {
        Ok(figures) => u8::from(!figures.iter().all(|f| f.met)),
        Err(error) => {
            eprintln!("h123-lab: {error:#}");
            3
        }
    })
}

fn measure_all(json: bool) -> Result<Vec<Figure>> {
    let mut figures = measure(IDLE, json)?;
    let stop = AtomicBool::new(false);
    let busy = std::thread::scope(|scope| {
        for _ in 0..cpus() {
            scope.spawn(|| burn(&stop));
        }
        let busy = measure("busy", json);
        stop.store(true, Ordering::Relaxed);
        busy
    });
    figures.extend(busy?);
    if json {
        println!("{}", serde_json::to_string_pretty(&figures)?);
    }
    Ok(figures)
}

/// Takes a processor, at the lowest ordinary priority.
fn burn(stop: &AtomicBool) {
    // SAFETY: only affects the calling thread. If refused, it burns at normal priority.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
    while !stop.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

fn measure(load: &'static str, json: bool) -> Result<Vec<Figure>> {
    let mut figures = vec![];
    let mut machine = Machine::now();
    let mut add = |figure: String, configured: String, (measured, met): (String, bool), bar| {
        let before = std::mem::replace(&mut machine, Machine::now());
        let figure = Figure {
            steal_ns: machine.since(&before).steal_ns,
            load,
            figure,
            configured,
            measured,
            bar,
            met,
        };
        if !json {
            println!(
                "{:<5} {:<22} {:<18} {:<48} {:<36} {:<6}  {} ms stolen",
                figure.load,
                figure.figure,
                figure.configured,
                figure.measured,
                figure.bar,
                if met { "met" } else { "MISSED" },
                figure.steal_ns / MS
            );
        }
        figures.push(figure);
    };
    for ms in DELAYS_MS {
        add(
            "one-way delay error".into(),
            format!("{ms} ms"),
            delay(ms)?,
            "p50 <= 100 us, p99 <= 500 us",
        );
    }
    for mbit in RATES_MBIT {
        add(
            "rate at 1.2 x load".into(),
            format!("{mbit} Mbit/s"),
            rate(mbit)?,
            "within 1 %",
        );
    }
    for share in LOSSES {
        add(
            "loss, drop set".into(),
            format!("{} %", share * 100.0),
            loss(share)?,
            "99.9 % interval, the seed's own set",
        );
    }
    // A busy machine has not the processors for more.
    let (gbit, bar) = match load {
        IDLE => (2.5, ">= 2.5 Gbit/s"),
        _ => (1.0, ">= 1 Gbit/s"),
    };
    add(
        "TCP, one connection".into(),
        "no limit, 0 ms".into(),
        tcp(gbit)?,
        bar,
    );
    add(
        format!("{FLOOD_SEGMENTS}-segment flood"),
        "no limit, 0 ms".into(),
        flood()?,
        ">= 500000 packets/s",
    );
    add(
        format!("{SEGMENTS}-segment GSO batch"),
        "1 %".into(),
        gso()?,
        "mean loss burst < 1.1",
    );
    Ok(figures)
}

/// Two hosts and one link with the same parameters both ways.
struct Bed {
    network: Network,
}

impl Bed {
    fn new(direction: Direction) -> Result<Self> {
        let profile = Profile {
            kind: LinkKind::Emulated,
            up: Some(direction.clone()),
            down: Some(direction),
            moves: vec![],
            cross: None,
        };
        let trial = Trial::bed(profile, SEED);
        Ok(Self {
            network: Network::build(&trial)?,
        })
    }

    fn parts(&mut self) -> (&mut Emulated, [Endpoint<'_>; 2]) {
        let Network { hosts, links, .. } = &mut self.network;
        let ends = [
            (&hosts[0], Ipv4Addr::new(10, 1, 0, 1)),
            (&hosts[1], Ipv4Addr::new(10, 1, 0, 2)),
        ];
        (links[0].as_mut().expect("the bed's link is emulated"), ends)
    }
}

fn steady(count: u64, interval_ns: u64) -> impl Fn(&Direction) -> Option<Train> {
    move |_| {
        let offsets_ns = (0..count).map(|i| i * interval_ns).collect();
        Some(Train {
            bytes: SMALLEST,
            offsets_ns,
            catch_up: false,
            tail_ns: 0,
        })
    }
}

fn delay(ms: u64) -> Result<(String, bool)> {
    let mut bed = Bed::new(Direction {
        delay_ns: ms * MS,
        ..Direction::default()
    })?;
    let (emulated, ends) = bed.parts();
    let course = emulated.base.clone();
    let outcomes = send_trains(emulated, ends, &course, steady(DELAY_PROBES, MS))?.outcomes;
    let mut errors: Vec<i64> = outcomes
        .iter()
        .flatten()
        .flat_map(|p| p.delay_errors(usize::MAX))
        .collect();
    errors.sort_unstable();
    let q = Quantiles::of(&errors).context("no probe arrived")?;
    let us = |ns: i64| ns / 1000;
    let measured = format!(
        "p50 {} us, p99 {} us, max {} us",
        us(q.p50),
        us(q.p99),
        us(q.max)
    );
    Ok((measured, us(q.p50).abs() <= 100 && us(q.p99).abs() <= 500))
}

fn rate(mbit: u64) -> Result<(String, bool)> {
    let bps = mbit * 1_000_000;
    let queue = Some(Queue::Bytes(bps / 8 / 10));
    let mut bed = Bed::new(Direction {
        rate: Some(Rate::Constant { bps }),
        queue,
        ..Direction::default()
    })?;
    let (emulated, ends) = bed.parts();
    let course = emulated.base.clone();
    let outcomes = send_trains(emulated, ends, &course, overload)?.outcomes;
    let rates: Vec<u64> = outcomes
        .iter()
        .flatten()
        .filter_map(|p| Some(p.rate(bps)?.measured_bps))
        .collect();
    let off = |measured: &u64| (*measured as f64 / bps as f64 - 1.0) * 100.0;
    let texts: Vec<String> = rates
        .iter()
        .map(|r| format!("{:.3}", *r as f64 / 1e6))
        .collect();
    let met = rates.len() == 2 && rates.iter().all(|r| off(r).abs() <= 1.0);
    Ok((format!("{} Mbit/s (up, down)", texts.join(", ")), met))
}

fn loss(share: f64) -> Result<(String, bool)> {
    let mut bed = Bed::new(Direction {
        loss: Some(Loss::Random(share)),
        ..Direction::default()
    })?;
    let (emulated, ends) = bed.parts();
    let course: Course = emulated.base.clone();
    let outcomes = send_trains(emulated, ends, &course, steady(LOSS_PROBES, MS / 10))?.outcomes;
    let (mut texts, mut met) = (vec![], true);
    for (way, outcome) in outcomes.iter().enumerate() {
        let checked = outcome
            .as_ref()
            .and_then(|p| p.loss(course.direction(way), course.seed(way)));
        let checked = checked.context("no loss was measured")?;
        met &= checked.identical && (checked.low..=checked.high).contains(&checked.lost);
        texts.push(format!(
            "{:.3} %",
            100.0 * checked.lost as f64 / checked.sent as f64
        ));
        met &= checked.lost == checked.expected_lost;
    }
    Ok((
        format!(
            "{} (up, down), set {}",
            texts.join(", "),
            if met { "identical" } else { "DIFFERS" }
        ),
        met,
    ))
}

/// What the link let through, and the lab's processor time for it.
struct Through {
    packets: u64,
    ns: u64,
    /// With the kernel's work on what the lab hands to a host, which is done in the lab's name.
    lab_ns: u64,
}

impl Through {
    /// While `others` have run, whose threads' processor time is not the lab's: they return it beside what else they tell.
    fn of<T>(
        emulated: &mut Emulated,
        others: impl FnOnce() -> Result<(T, u64)>,
    ) -> Result<(T, Self)> {
        let course = emulated.base.clone();
        emulated.link.begin(&course)?;
        let (begin, spent) = (now_ns(), process_cpu_ns());
        let (told, theirs_ns) = others()?;
        let (ns, spent) = (now_ns() - begin, process_cpu_ns() - spent);
        let ways = emulated.link.begin(&course)?.ledgers;
        let through = Self {
            packets: ways.iter().map(|way| way.released.packets).sum(),
            ns,
            lab_ns: spent.saturating_sub(theirs_ns),
        };
        Ok((told, through))
    }

    fn per_second(&self) -> u64 {
        self.packets * 1_000_000_000 / self.ns.max(1)
    }
}

impl std::fmt::Display for Through {
    fn fmt(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
        let each = self.lab_ns as f64 / 1e3 / self.packets.max(1) as f64;
        write!(
            to,
            "{} packets/s, {each:.2} us of lab each",
            self.per_second()
        )
    }
}

/// One bulk connection, client to server; the bar is in Gbit/s.
fn tcp(bar: f64) -> Result<(String, bool)> {
    let mut bed = Bed::new(Direction::default())?;
    let (emulated, [client, server]) = bed.parts();
    let listener = server
        .0
        .within(|| Ok(TcpListener::bind(SocketAddrV4::new(server.1, TCP_PORT))?))?;
    let mut outgoing = client
        .0
        .within(|| Ok(TcpStream::connect(SocketAddrV4::new(server.1, TCP_PORT))?))?;
    let (mut incoming, _) = listener.accept()?;
    let end_ns = now_ns() + FLOOD_SECONDS * 1_000_000_000;
    let ((bytes, ns), through) = Through::of(emulated, || {
        std::thread::scope(|scope| {
            let sender = scope.spawn(move || -> Result<u64> {
                let data = vec![0; 1 << 18];
                while now_ns() < end_ns {
                    outgoing.write_all(&data)?;
                }
                Ok(thread_cpu_ns())
            });
            let (begin, spent) = (now_ns(), thread_cpu_ns());
            let (mut bytes, mut buffer) = (0, vec![0; 1 << 18]);
            loop {
                match incoming.read(&mut buffer)? {
                    0 => break,
                    n => bytes += n as u64,
                }
            }
            let sender_ns = sender.join().expect("the sender does not panic")?;
            let spent = thread_cpu_ns() - spent;
            Ok(((bytes, now_ns() - begin), sender_ns + spent))
        })
    })?;
    let gbit = bytes as f64 * 8.0 / ns as f64;
    Ok((format!("{gbit:.2} Gbit/s, {through}"), gbit >= bar))
}

/// As many small datagrams as a sender can send, which hands them over in batches; those that nobody has read are thrown away
/// by the receiver's socket.
fn flood() -> Result<(String, bool)> {
    let mut bed = Bed::new(Direction::default())?;
    let (emulated, [client, server]) = bed.parts();
    let address = SocketAddrV4::new(server.1, TCP_PORT);
    let _receiver = server.0.within(|| Ok(UdpSocket::bind(address)?))?;
    let sender = client
        .0
        .within(|| Ok(UdpSocket::bind(SocketAddrV4::new(client.1, 0))?))?;
    setsockopt(&sender, UdpGsoSegment, &(i32::try_from(SMALLEST)?))?;
    let batch = vec![0; SMALLEST as usize * FLOOD_SEGMENTS];
    let end_ns = now_ns() + FLOOD_SECONDS * 1_000_000_000;
    let ((), through) = Through::of(emulated, || {
        let spent = thread_cpu_ns();
        while now_ns() < end_ns {
            sender
                .send_to(&batch, address)
                .context("sending a GSO batch")?;
        }
        Ok(((), thread_cpu_ns() - spent))
    })?;
    Ok((through.to_string(), through.per_second() >= 500_000))
}

/// Batches that the kernel segments (UDP_SEGMENT): losses must hit single datagrams.
fn gso() -> Result<(String, bool)> {
    let loss = Some(Loss::Random(0.01));
    let mut bed = Bed::new(Direction {
        loss,
        ..Direction::default()
    })?;
    let (_, [client, server]) = bed.parts();
    let address = SocketAddrV4::new(server.1, TCP_PORT);
    let receiver = server.0.within(|| Ok(UdpSocket::bind(address)?))?;
    setsockopt(&receiver, RcvBufForce, &(64 << 20))?;
    let sender = client
        .0
        .within(|| Ok(UdpSocket::bind(SocketAddrV4::new(client.1, 0))?))?;
    setsockopt(&sender, UdpGsoSegment, &(SEGMENT as i32))?;
    let mut batch = vec![0; SEGMENT * SEGMENTS];
    for number in 0..BATCHES {
        for (segment, bytes) in batch.chunks_mut(SEGMENT).enumerate() {
            bytes[..8].copy_from_slice(&((number * SEGMENTS + segment) as u64).to_le_bytes());
        }
        sender
            .send_to(&batch, address)
            .context("sending a GSO batch")?;
        std::thread::sleep(Duration::from_micros(500));
    }
    std::thread::sleep(Duration::from_millis(50));
    let mut lost = vec![true; BATCHES * SEGMENTS];
    let mut buffer = [0; 2048];
    while recv(receiver.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT).is_ok() {
        lost[u64::from_le_bytes(buffer[..8].try_into().expect("eight bytes")) as usize] = false;
    }
    let losses = lost.iter().filter(|l| **l).count();
    let runs = lost.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
    let mean = losses as f64 / runs.max(1) as f64;
    let share = 100.0 * losses as f64 / lost.len() as f64;
    Ok((
        format!("{share:.2} % lost, mean burst {mean:.3}"),
        losses > 0 && mean < 1.1,
    ))
}
