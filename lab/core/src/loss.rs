//! Which packets are lost.

use crate::direction::{Blackout, Direction, GilbertElliott, Loss};
use crate::draws::{Draws, Stream};
use crate::timeline::Timeline;

/// A loss model and its state.
enum Model {
    None,
    Random(f64),
    GilbertElliott {
        chain: GilbertElliott,
        /// `None` before the first packet.
        bad: Option<bool>,
    },
    /// In order.
    Packets(Vec<u64>),
    Bytes {
        /// In order.
        marks: Vec<u64>,
        offered: u64,
    },
}

impl Model {
    fn new(loss: Option<&Loss>) -> Self {
        match loss {
            None => Model::None,
            Some(Loss::Random(share)) => Model::Random(*share),
            Some(Loss::GilbertElliott(chain)) => Model::GilbertElliott { chain: *chain, bad: None },
            Some(Loss::Packets(indices)) => {
                let mut indices = indices.clone();
                indices.sort_unstable();
                Model::Packets(indices)
            }
            Some(Loss::Bytes(marks)) => {
                let mut marks = marks.clone();
                marks.sort_unstable();
                Model::Bytes { marks, offered: 0 }
            }
        }
    }

    /// Whether this packet is lost. To be asked once for each packet, in order.
    fn loses(&mut self, index: u64, bytes: u32, draws: &Draws) -> bool {
        match self {
            Model::None => false,
            Model::Random(share) => draws.loss < *share,
            Model::GilbertElliott { chain, bad } => {
                let now_bad = match *bad {
                    None => draws.state < chain.bad_share(),
                    Some(false) => draws.state < chain.p,
                    Some(true) => draws.state >= chain.r,
                };
                *bad = Some(now_bad);
                draws.loss < chain.loss(now_bad)
            }
            Model::Packets(indices) => indices.binary_search(&index).is_ok(),
            Model::Bytes { marks, offered } => {
                let first = *offered;
                *offered += u64::from(bytes);
                let place = marks.partition_point(|&mark| mark < first);
                marks.get(place).is_some_and(|mark| mark < offered)
            }
        }
    }
}

/// The loss stage of a direction.
pub(crate) struct Losses {
    models: Timeline<Model>,
    blackouts: Timeline<bool>,
}

impl Losses {
    pub fn new(direction: &Direction) -> Self {
        let changes = direction.changes.iter().filter_map(|change| {
            let loss = change.loss.as_ref()?;
            Some((change.at_ns, Model::new(Some(loss))))
        });
        let edges = |window: &Blackout| [(window.from_ns, true), (window.to_ns, false)];
        Losses {
            models: Timeline::new(Model::new(direction.loss.as_ref()), changes),
            blackouts: Timeline::new(false, direction.blackouts.iter().flat_map(edges)),
        }
    }

    /// Whether the packet that meets this stage at `time` is lost. To be asked once for each packet, in order.
    pub fn lose(&mut self, time: u64, index: u64, bytes: u32, draws: &Draws) -> bool {
        let by_model = self.models.at(time).0.loses(index, bytes, draws);
        by_model || *self.blackouts.at(time).0
    }
}

/// The drop set: indices of those of the first `n` packets, of so many `bytes` each, that the direction's loss model loses
/// with this seed. It leaves out what depends on time: `changes` and `blackouts`.
pub fn expected_losses(direction: &Direction, seed: u64, n: u64, bytes: u32) -> Vec<u64> {
    let mut stream = Stream::new(seed, direction);
    let mut model = Model::new(direction.loss.as_ref());
    (0..n).filter(|&index| model.loses(index, bytes, &stream.next_packet())).collect()
}
