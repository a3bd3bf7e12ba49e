//! Delay, rate and loss of a link, by probes.

use anyhow::{Context, Result};
use h123_link::{Direction, Loss, Queue, Rate};

use super::MS;
use super::bed::Bed;
use crate::check::train::{SMALLEST, Train, overload};
use crate::check::train_check::{Quantiles, send_trains};
use crate::link::course::Course;

const DELAY_PROBES: u64 = 2000;
const LOSS_PROBES: u64 = 20_000;

fn steady(count: u64, interval_ns: u64) -> impl Fn(&Direction) -> Option<Train> {
    move |_| {
        let offsets_ns = (0..count).map(|i| i * interval_ns).collect();
        Some(Train { bytes: SMALLEST, offsets_ns, catch_up: false, tail_ns: 0 })
    }
}

pub fn delay(ms: u64) -> Result<(String, bool)> {
    let mut bed = Bed::new(Direction { delay_ns: ms * MS, ..Direction::default() })?;
    let (emulated, ends) = bed.link_and_ends();
    let course = emulated.base.clone();
    let outcomes = send_trains(emulated, ends, &course, steady(DELAY_PROBES, MS))?.outcomes;
    let mut errors: Vec<i64> = outcomes.iter().flatten().flat_map(|p| p.delay_errors(usize::MAX)).collect();
    errors.sort_unstable();
    let q = Quantiles::of(&errors).context("no probe arrived")?;
    let us = |ns: i64| ns / 1000;
    let measured = format!("p50 {} us, p99 {} us, max {} us", us(q.p50), us(q.p99), us(q.max));
    Ok((measured, us(q.p50).abs() <= 100 && us(q.p99).abs() <= 500))
}

pub fn rate(mbit: u64) -> Result<(String, bool)> {
    let bps = mbit * 1_000_000;
    let queue = Some(Queue::Bytes(bps / 8 / 10));
    let mut bed = Bed::new(Direction { rate: Some(Rate::Constant { bps }), queue, ..Direction::default() })?;
    let (emulated, ends) = bed.link_and_ends();
    let course = emulated.base.clone();
    let outcomes = send_trains(emulated, ends, &course, overload)?.outcomes;
    let rates: Vec<u64> = outcomes.iter().flatten().filter_map(|p| Some(p.rate(bps)?.measured_bps)).collect();
    let off = |measured: &u64| (*measured as f64 / bps as f64 - 1.0) * 100.0;
    let texts: Vec<String> = rates.iter().map(|r| format!("{:.3}", *r as f64 / 1e6)).collect();
    let met = rates.len() == 2 && rates.iter().all(|r| off(r).abs() <= 1.0);
    Ok((format!("{} Mbit/s (up, down)", texts.join(", ")), met))
}

pub fn loss(share: f64) -> Result<(String, bool)> {
    let mut bed = Bed::new(Direction { loss: Some(Loss::Random(share)), ..Direction::default() })?;
    let (emulated, ends) = bed.link_and_ends();
    let course: Course = emulated.base.clone();
    let outcomes = send_trains(emulated, ends, &course, steady(LOSS_PROBES, MS / 10))?.outcomes;
    let (mut texts, mut met) = (vec![], true);
    for (way, outcome) in outcomes.iter().enumerate() {
        let checked = outcome.as_ref().and_then(|p| p.loss(course.direction(way), course.seed(way)));
        let checked = checked.context("no loss was measured")?;
        met &= checked.identical && (checked.low..=checked.high).contains(&checked.lost);
        texts.push(format!("{:.3} %", 100.0 * checked.lost as f64 / checked.sent as f64));
        met &= checked.lost == checked.expected_lost;
    }
    Ok((format!("{} (up, down), {}", texts.join(", "), if met { "as expected" } else { "NOT as expected" }), met))
}
