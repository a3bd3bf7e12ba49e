//! What the link's core makes of an arrival script, for `bench/queue_accuracy`, which plays the same to Linux.
//!
//! Reads from standard input a direction as JSON, on one line, then a line for each packet: arrival (ns), bytes, flow hash
//! and ECN field, as numbers. Writes a line for each packet: its delivery (ns), or `-` if it was dropped, and 1 if it
//! leaves with Congestion Experienced, else 0.

use std::io::{BufWriter, Error, Write, read_to_string, stdin, stdout};

use h123_link::{Direction, Ecn, Fate, Packet, Path};

fn main() -> Result<(), Error> {
    let input = read_to_string(stdin())?;
    let mut lines = input.lines();
    let direction: Direction = serde_json::from_str(lines.next().unwrap_or_default())?;
    direction.validate().map_err(Error::other)?;
    let packets: Vec<_> = lines
        .map(|line| {
            let mut numbers = line
                .split(' ')
                .map(|word| word.parse::<u64>().expect("a number"));
            let mut next = || numbers.next().expect("four numbers a line");
            let (now, bytes, flow, ecn) = (next(), next() as u32, next() as u32, next() as u8);
            let packet = Packet {
                bytes,
                udp: false,
                flow,
                ecn: Ecn::of_traffic_class(ecn),
            };
            (now, packet)
        })
        .collect();
    let mut out = BufWriter::new(stdout());
    let decisions = Path::new(&direction, 1).decisions(packets.iter().copied());
    for ((_, packet), decision) in packets.iter().zip(decisions) {
        let experienced = decision.marked || packet.ecn == Ecn::Ce;
        match decision.fate {
            Fate::Deliver { at, .. } => writeln!(out, "{at} {}", u8::from(experienced))?,
            _ => writeln!(out, "- 0")?,
        }
    }
    out.flush()
}
