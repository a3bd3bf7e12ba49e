//! The random draws of a packet.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

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
    let digest = Sha256::new()
        .chain_update(b"h123-link/cross")
        .chain_update(seed.to_le_bytes())
        .finalize();
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

/// One packet's luck, spent whether needed or not: five numbers, uniform in [0, 1), and one for its queue.
pub(crate) struct Draws {
    pub state: f64,
    pub loss: f64,
    pub duplicate: f64,
    pub jitter: f64,
    pub reorder: f64,
    pub queue: u64,
    /// Of the link layer, uniform in [0, 1); always 0 if that repeats nothing.
    pub link: f64,
}

/// The streams of draws: ChaCha8, keyed with the seed (8 bytes, little endian, then zeros). Packet `i` takes the `u64`
/// values `5 i` to `5 i + 4` of stream 0, for its queue value `i` of stream 1, and for the link layer value `i` of stream 2.
pub(crate) struct Stream {
    luck: ChaCha8Rng,
    queue: ChaCha8Rng,
    /// Only where it is needed: nothing else is drawn from it.
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
    pub fn new(seed: u64, with_link: bool) -> Self {
        Stream {
            luck: stream(seed, 0),
            queue: stream(seed, 1),
            link: with_link.then(|| stream(seed, 2)),
        }
    }

    pub fn next_packet(&mut self) -> Draws {
        Draws {
            state: uniform(&mut self.luck),
            loss: uniform(&mut self.luck),
            duplicate: uniform(&mut self.luck),
            jitter: uniform(&mut self.luck),
            reorder: uniform(&mut self.luck),
            queue: self.queue.next_u64(),
            link: self.link.as_mut().map_or(0.0, uniform),
        }
    }
}

/// The upper 53 bits, as a multiple of 2^-53.
fn uniform(stream: &mut ChaCha8Rng) -> f64 {
    const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
    (stream.next_u64() >> 11) as f64 * UNIT
}
