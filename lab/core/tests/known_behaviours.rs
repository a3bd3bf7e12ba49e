//! What the literature says of queues: how responsive senders share them.

mod common;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use common::{MS, direction, tcp};
use h123_link::{Ecn, Fate, Packet, Party, Path};

const SIZE: u32 = 1500;
/// From a packet's delivery to its acknowledgement's arrival, ns.
const BACK: u64 = 10 * MS;

/// How a sender answers to marks.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Halves its window at most once a round trip (RFC 3168).
    Classic,
    /// Takes from its window half of the share of marked packets (RFC 8257, RFC 9331).
    Scalable,
}

/// A sender that always has data: window, what is on its way, and what it has heard of.
struct Sender {
    kind: Kind,
    window: f64,
    flying: u64,
    delivered: u64,
    /// When a reduction may come again.
    deaf_until: u64,
    marked_share: f64,
    /// Acknowledgements of this round trip: all, and those of marked packets.
    heard: [u64; 2],
    round_ends: u64,
}

impl Sender {
    fn new(kind: Kind) -> Self {
        Sender {
            kind,
            window: 10.0,
            flying: 0,
            delivered: 0,
            deaf_until: 0,
            marked_share: 1.0,
            heard: [0; 2],
            round_ends: 0,
        }
    }

    fn packet(&self, flow: u32) -> Packet {
        let ecn = match self.kind {
            Kind::Classic => Ecn::Ect0,
            Kind::Scalable => Ecn::Ect1,
        };
        Packet { flow, ecn, ..tcp(SIZE) }
    }

    /// An acknowledgement, or the news of a loss, arrives at `now`, of a packet that travelled for `trip`.
    fn hear(&mut self, now: u64, trip: u64, marked: bool, lost: bool) {
        self.flying -= 1;
        self.delivered += u64::from(!lost);
        self.heard[0] += 1;
        self.heard[1] += u64::from(marked);
        let cut = now >= self.deaf_until && (lost || marked);
        if now >= self.round_ends {
            let share = self.heard[1] as f64 / self.heard[0] as f64;
            self.marked_share += (share - self.marked_share) / 16.0;
            (self.heard, self.round_ends) = ([0; 2], now + trip);
        }
        if cut {
            self.window *= match self.kind {
                Kind::Scalable if !lost => 1.0 - self.marked_share / 2.0,
                _ => 0.5,
            };
            self.deaf_until = now + trip;
        } else if !lost {
            self.window += 1.0 / self.window;
        }
        self.window = self.window.max(2.0);
    }
}

/// The shares of two senders in what 40 s of a link of 20 Mbit/s carry after a time to settle, and their mean round trips, ms.
fn share(queue: &str, kinds: [Kind; 2]) -> ([f64; 2], [f64; 2]) {
    let direction = direction(&format!(r#"{{"delay_ns": 10000000, "rate": {{"bps": 20000000}}, "queue": {queue}}}"#));
    let mut path = Path::new(&direction, 1);
    let mut senders = kinds.map(Sender::new);
    let (mut tickets, mut news) = (vec![], BinaryHeap::new());
    let (mut settled, mut trips) = ([0; 2], [(0u64, 0u64); 2]);
    let mut now = 0;
    while now < 50_000 * MS {
        for (flow, sender) in senders.iter_mut().enumerate() {
            while (sender.flying as f64) < sender.window.floor() {
                sender.flying += 1;
                path.offer(now, Party::Own, sender.packet(flow as u32 * 0x4000_0000), tickets.len());
                tickets.push((flow, now));
            }
        }
        while let Some(decision) = path.next(now, |_, _| true) {
            let (at, lost) = match decision.fate {
                Fate::Deliver { at, .. } => (at, false),
                _ => (now + BACK, true),
            };
            news.push(Reverse((at + BACK, decision.ticket, decision.marked, lost)));
        }
        let next = news.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        let due = path.deadline().unwrap_or(u64::MAX).max(now + 1);
        now = next.min(due);
        while let Some(&Reverse((at, ticket, marked, lost))) = news.peek()
            && at <= now
        {
            news.pop();
            let (flow, sent) = tickets[ticket];
            senders[flow].hear(now, now - sent, marked, lost);
            if now > 10_000 * MS {
                trips[flow].0 += now - sent;
                trips[flow].1 += 1;
            }
        }
        if now <= 10_000 * MS {
            settled = [senders[0].delivered, senders[1].delivered];
        }
    }
    let carried = [0, 1].map(|i| (senders[i].delivered - settled[i]) as f64);
    let all = carried[0] + carried[1];
    let link = 40.0 * 20e6 / (f64::from(SIZE) * 8.0);
    assert!(all > 0.85 * link, "{queue}: {all} of {link}");
    let trips = trips.map(|(sum, number)| sum as f64 / number as f64 / 1e6);
    (carried.map(|part| part / all), trips)
}

#[test]
fn a_scalable_sender_starves_a_classic_one_in_a_shared_queue_with_classic_marks() {
    // RFC 9332, section 1: why L4S has a queue of its own.
    let shared = r#"{"codel": {"ecn": true}}"#;
    let ([classic, _], _) = share(shared, [Kind::Classic, Kind::Scalable]);
    assert!(classic < 0.2, "{classic}");
    // Alone with its like, each gets its half.
    let ([one, _], _) = share(shared, [Kind::Classic, Kind::Classic]);
    assert!((0.4..0.6).contains(&one), "{one}");
}

#[test]
fn dualpi2_lets_both_have_their_share_and_the_scalable_one_hardly_waits() {
    let ([classic, _], [waits, hardly]) = share(r#"{"dualpi2": {}}"#, [Kind::Classic, Kind::Scalable]);
    assert!((0.25..0.75).contains(&classic), "{classic}");
    assert!(hardly < 23.0 && waits > hardly + 5.0, "{waits} {hardly}");
}

#[test]
fn fair_queues_give_each_its_half_whatever_it_does() {
    for queue in [r#"{"fq_codel": {}}"#, r#"{"fq_pie": {"ecn": true}}"#] {
        let ([classic, _], _) = share(queue, [Kind::Classic, Kind::Scalable]);
        assert!((0.4..0.6).contains(&classic), "{queue} {classic}");
    }
}

#[test]
fn codel_hardly_slows_a_flow_that_does_not_listen() {
    // RFC 8289, section 4.1 bounds the wait of senders that react: a flow of twice the rate fills the queue for seconds.
    let direction = direction(r#"{"rate": {"bps": 10000000}, "queue": {"codel": {"limit": 100000}}}"#);
    let packets: Vec<_> = (0..10_000u64).map(|i| (i * 600_000, tcp(SIZE))).collect();
    let decisions = Path::new(&direction, 1).decisions(packets.iter().copied());
    let wait = |i: usize| Some(common::delivery(decisions[i].fate)? - packets[i].0);
    let around = |i: usize| (i..i + 100).filter_map(wait).max().unwrap();
    assert!(around(3_000) > 500 * MS, "{}", around(3_000));
    assert!(around(9_000) > around(3_000), "{}", around(9_000));
}

#[test]
fn pie_lets_a_burst_pass_that_a_short_queue_drops_but_not_a_load_that_lasts() {
    // RFC 8033, section 4.4: after a quiet time nothing is dropped for 150 ms, whatever the wait.
    let dropped = |queue: &str, ms: u64| {
        let direction = direction(&format!(r#"{{"rate": {{"bps": 10000000}}, "queue": {queue}}}"#));
        // Twice the rate for so long, every 5 s.
        let bursts =
            (0..20).flat_map(|k| (0..ms * MS / 600_000).map(move |i| (k * 5000 * MS + i * 600_000, tcp(SIZE))));
        let decisions = Path::new(&direction, 1).decisions(bursts);
        let drops = decisions.iter().filter(|decision| decision.fate == Fate::QueueDropped);
        drops.count() as f64 / decisions.len() as f64
    };
    let (pie, short) = (r#"{"pie": {}}"#, r#"{"ns": 15000000}"#);
    assert_eq!(dropped(pie, 140), 0.0);
    assert!(dropped(short, 140) > 0.4);
    // Half is too much: of a longer load ever less passes, in the end no more than through the short queue.
    assert!((0.3..0.45).contains(&dropped(pie, 1000)));
    assert!((dropped(pie, 3000) - dropped(short, 3000)).abs() < 0.01);
}
