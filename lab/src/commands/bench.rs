//! `bench`: measures how exactly the links of this machine do what is configured, idle and with busy processors.

mod bed;
mod probes;
mod throughput;

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use h123_link::{Direction, FqCodelParameters, Queue, Rate};
use serde::Serialize;

use self::probes::{delay, loss, rate};
use self::throughput::{FLOOD_SEGMENTS, SEGMENTS, flood, gso, tcp, veth};
use crate::files::refusal::Refusal;
use crate::host::account::{Machine, cpus};
use crate::host::enclosure;
use crate::link::tun;

const MS: u64 = 1_000_000;
const DELAYS_MS: [u64; 2] = [30, 50];
const RATES_MBIT: [u64; 3] = [10, 20, 100];
const LOSSES: [f64; 2] = [0.005, 0.02];
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
    tun::openable().map_err(|closed| Refusal::machine(closed.detail))?;
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

/// A managed queue in front of a rate that a machine like this one hardly reaches.
fn fair_queue() -> Direction {
    Direction {
        rate: Some(Rate::Constant { bps: 10_000_000_000 }),
        queue: Some(Queue::FqCodel(FqCodelParameters::default())),
        ..Direction::default()
    }
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
        let figure = Figure { steal_ns: machine.since(&before).steal_ns, load, figure, configured, measured, bar, met };
        if !json {
            println!(
                "{:<5} {:<28} {:<19} {:<76} {:<38} {:<6}  {} ms stolen",
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
        add("one-way delay error".into(), format!("{ms} ms"), delay(ms)?, "p50 <= 100 us, p99 <= 500 us");
    }
    for mbit in RATES_MBIT {
        add("rate if 20 % more is sent".into(), format!("{mbit} Mbit/s"), rate(mbit)?, "within 1 %");
    }
    for share in LOSSES {
        add("lost packets".into(), format!("{} %", share * 100.0), loss(share)?, "99.9 % interval, expected packets");
    }
    // All of them compete for the same processors, so only shares of what a veth pair gets at the same time are compared.
    let veth_gbit = veth()?;
    for (name, direction, bar, words) in [
        ("no limit, 0 ms", Direction::default(), 0.25, ">= 0.25 of veth"),
        ("fq_codel, 10 Gbit/s", fair_queue(), 0.15, ">= 0.15 of veth"),
    ] {
        let measured = tcp(direction, veth_gbit, bar)?;
        add("TCP, one connection".into(), name.into(), measured, words);
    }
    add(format!("GSO batches of {FLOOD_SEGMENTS} datagrams"), "no limit, 0 ms".into(), flood()?, ">= 500000 packets/s");
    add(format!("GSO batches of {SEGMENTS} datagrams"), "1 %".into(), gso()?, "mean loss burst < 1.1");
    Ok(figures)
}
