//! What the link's core makes of an arrival script, for `bench/queue_accuracy`, which plays the same to Linux.
//!
//! Reads from standard input a direction as JSON, on one line, the path's seed, on another one, then a line for each packet:
//! arrival (ns), bytes, flow hash, ECN field and 1 for cross traffic, else 0, as numbers. Writes a line for each packet: its place among those that
//! leave, or `-`, 1 if it leaves with Congestion Experienced, else 0, when it leaves (ns), and what its queue drew for it.

use std::io::{BufWriter, Error, Write, read_to_string, stdin, stdout};

use h123_link::{Direction, Ecn, Fate, Packet, Party, Path, queue_draws};

fn main() -> Result<(), Error> {
    let input = read_to_string(stdin())?;
    let mut lines = input.lines();
    let direction: Direction = serde_json::from_str(lines.next().unwrap_or_default())?;
    direction.validate().map_err(Error::other)?;
    let seed = lines.next().unwrap_or_default();
    let seed = seed.parse().map_err(Error::other)?;
    let packets: Vec<_> = lines
        .map(|line| {
            let mut numbers = line.split(' ').map(|word| word.parse::<u64>().expect("a number"));
            let mut next = || numbers.next().expect("five numbers a line");
            let (now, bytes, flow, ecn) = (next(), next() as u32, next() as u32, next() as u8);
            let party = [Party::Own, Party::Cross][next() as usize];
            let packet = Packet { bytes, flow, ecn: Ecn::of_traffic_class(ecn), ..Packet::default() };
            (now, packet, party)
        })
        .collect();
    let mut path = Path::new(&direction, seed);
    let mut decided = vec![];
    for (ticket, &(now, packet, party)) in packets.iter().enumerate() {
        path.offer(now, party, packet, ticket);
        decided.extend(std::iter::from_fn(|| path.next(now, |_, _| true)));
    }
    decided.extend(std::iter::from_fn(|| path.next(u64::MAX, |_, _| true)));
    let (mut outcomes, mut left) = (vec![None; packets.len()], 0);
    for decision in decided {
        if let Fate::Deliver { at, .. } = decision.fate {
            let experienced = decision.marked || packets[decision.ticket].1.ecn == Ecn::Ce;
            outcomes[decision.ticket] = Some((left, u8::from(experienced), at));
            left += 1;
        }
    }
    let mut out = BufWriter::new(stdout());
    let mut draws = [Party::Own, Party::Cross].map(|party| queue_draws(seed, party));
    for (outcome, (_, _, party)) in outcomes.into_iter().zip(packets) {
        let draw = draws[usize::from(party == Party::Cross)].next().unwrap_or(0);
        match outcome {
            Some((place, experienced, at)) => {
                writeln!(out, "{place} {experienced} {at} {draw}")?;
            }
            None => writeln!(out, "- 0 0 {draw}")?,
        }
    }
    out.flush()
}
