//! The random draws of a packet.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

use crate::direction::{Direction, Queue};
use crate::fate::Party;

/// A seed for one direction of one link, so that all streams of a trial are independent.
///
/// The first 8 bytes (little endian) of SHA-256 over `"h123-link/1"`, the seed (8 bytes, little endian), the length
/// of the link's name (8 bytes, little endian), the name, and the direction (`up` or `down`).
pub fn stream_seed(seed: u64, link: &str, direction: &str) -> u64 {
    let digest = Sha256::new()
        .chain_update(b"h123-link/1")
        .chain_update(seed.to_le_bytes())
        .chain_update((link.len() as u64).to_le_bytes())
        .chain_update(link)
        .chain_update(direction)
        .finalize();
    u64::from_le_bytes(std::array::from_fn(|i| digest[i]))
}

/// Of the cross traffic in the direction with this seed, so that how much of it comes changes no other packet's luck.
pub(crate) fn cross_seed(seed: u64) -> u64 {
    let digest = Sha256::new().chain_update(b"h123-link/cross").chain_update(seed.to_le_bytes()).finalize();
    u64::from_le_bytes(std::array::from_fn(|i| digest[i]))
}

/// A number that follows from these two alone, of no packet's luck.
pub(crate) fn mixed(seed: u64, which: u64) -> u64 {
    let digest = Sha256::new()
        .chain_update(b"h123-link/moves")
        .chain_update(seed.to_le_bytes())
        .chain_update(which.to_le_bytes())
        .finalize();
    u64::from_le_bytes(std::array::from_fn(|i| digest[i]))
}

/// The version of all below: which packets a seed loses. Whatever changes it makes a new one, because trials of two
/// versions with one seed have not met the same losses.
pub const DRAWS: u32 = 1;

/// One packet's luck: numbers for the loss model, uniform in [0, 1), and one for its queue.
pub(crate) struct Draws {
    pub state: f64,
    pub loss: f64,
    pub queue: u64,
    /// Apart, because few links need them, and all packets are moved about. Of a link that does not: the default.
    pub rare: Option<Box<RareDraws>>,
}

/// What only some links need, uniform in [0, 1).
pub(crate) struct RareDraws {
    pub duplicate: f64,
    pub jitter: f64,
    pub reorder: f64,
    /// Of the link layer; 1 if that repeats nothing.
    pub link: f64,
}

/// The luck of a packet with which nothing happens.
pub(crate) const CALM: RareDraws = RareDraws { duplicate: 1.0, jitter: 0.5, reorder: 1.0, link: 1.0 };

impl Draws {
    pub fn rare(&self) -> &RareDraws {
        self.rare.as_deref().unwrap_or(&CALM)
    }
}

/// The streams of draws: ChaCha8, keyed with the seed (8 bytes, little endian, then zeros). Packet `i` takes the `u64`
/// values `5 i` to `5 i + 4` of stream 0, for its queue value `i` of stream 1, and for the link layer value `i` of stream 2.
pub(crate) struct Stream {
    luck: Option<ChaCha8Rng>,
    rare: bool,
    queue: Option<ChaCha8Rng>,
    link: Option<ChaCha8Rng>,
}

fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut stream = ChaCha8Rng::from_seed(key);
    stream.set_stream(number);
    stream
}

/// What the queue of a path with this seed draws for each packet of a party that the path is offered, whether it needs it or not.
pub fn queue_draws(seed: u64, party: Party) -> impl Iterator<Item = u64> {
    let seed = match party {
        Party::Own => seed,
        Party::Cross => cross_seed(seed),
    };
    let mut queue = stream(seed, 1);
    std::iter::repeat_with(move || queue.next_u64())
}

impl Stream {
    pub fn new(seed: u64, direction: &Direction) -> Self {
        let needed = |number, needed: bool| needed.then(|| stream(seed, number));
        let rare = direction.needs_rare_draws();
        Stream {
            luck: needed(0, direction.may_lose() || rare),
            rare,
            queue: needed(1, direction.queue.is_some_and(Queue::is_managed)),
            link: needed(2, direction.retransmission.is_some()),
        }
    }

    pub fn next_packet(&mut self) -> Draws {
        let (mut state, mut loss, mut rare) = (0.0, 1.0, None);
        if let Some(luck) = &mut self.luck {
            let [first, second, duplicate, jitter, reorder] = std::array::from_fn(|_| uniform(luck));
            (state, loss) = (first, second);
            rare = self.rare.then(|| {
                Box::new(RareDraws { duplicate, jitter, reorder, link: self.link.as_mut().map_or(CALM.link, uniform) })
            });
        }
        Draws { state, loss, queue: self.queue.as_mut().map_or(0, ChaCha8Rng::next_u64), rare }
    }
}

/// The upper 53 bits, as a multiple of 2^-53.
fn uniform(stream: &mut ChaCha8Rng) -> f64 {
    const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
    (stream.next_u64() >> 11) as f64 * UNIT
}
