//! An emulated link with the courses that it takes.

use anyhow::Result;

use crate::files::trial::Link;
use crate::link::course::{Course, Moves};
use crate::link::cross_traffic::CrossTraffic;
use crate::link::emulated_link::EmulatedLink;
use crate::link::packet_record::Keep;
use crate::link::tun::Tun;

pub struct Emulated {
    pub link: EmulatedLink,
    /// As configured: in force from the main role's start.
    pub course: Course,
    /// The same without what depends on time: in force before.
    pub base: Course,
    /// If others send through it.
    pub cross: Option<CrossTraffic>,
}

impl Emulated {
    /// Starts the link of a trial with this number between two devices, as it is before any blackout, change or move.
    pub fn start(
        tuns: [Tun; 2],
        cross: Option<(CrossTraffic, [Tun; 2])>,
        link: &Link,
        index: usize,
        seed: u64,
    ) -> Result<Self> {
        let course = Course::new(link.directions(), seed, &link.name).moving(Moves {
            moves: link.moves.clone(),
            client: link.a.address,
            link: index,
        });
        let base = course.without_events();
        let course = course.recording(Keep { most: link.packets, capture: link.capture, frames: link.frames });
        let (cross, crossing) = cross.unzip();
        let pairs = [tuns].into_iter().chain(crossing).collect();
        Ok(Self { link: EmulatedLink::start(pairs, &base)?, course, base, cross })
    }
}
