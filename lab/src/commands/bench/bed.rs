//! Two hosts and a link to measure.

use std::net::Ipv4Addr;

use anyhow::Result;
use h123_link::Direction;

use crate::check::probe::Endpoint;
use crate::files::trial::{LinkKind, Profile, Trial};
use crate::link::emulated::Emulated;
use crate::link::network::Network;

const SEED: u64 = 123;

/// Two hosts and one link with the same parameters both ways.
pub struct Bed {
    network: Network,
}

impl Bed {
    pub fn new(direction: Direction) -> Result<Self> {
        Self::build(LinkKind::Emulated, Some(direction))
    }

    /// With a plain veth pair as its link.
    pub fn veth() -> Result<Self> {
        Self::build(LinkKind::Veth, None)
    }

    fn build(kind: LinkKind, direction: Option<Direction>) -> Result<Self> {
        let profile = Profile { kind, up: direction.clone(), down: direction, moves: vec![], cross: None };
        let trial = Trial::bed(profile, SEED);
        Ok(Self { network: Network::build(&trial)? })
    }

    /// The link, unless it is a veth pair, and its ends.
    pub fn parts(&mut self) -> (Option<&mut Emulated>, [Endpoint<'_>; 2]) {
        let Network { hosts, links, .. } = &mut self.network;
        let ends = [(&hosts[0], Ipv4Addr::new(10, 1, 0, 1)), (&hosts[1], Ipv4Addr::new(10, 1, 0, 2))];
        (links[0].as_mut(), ends)
    }

    pub fn link_and_ends(&mut self) -> (&mut Emulated, [Endpoint<'_>; 2]) {
        let (link, ends) = self.parts();
        (link.expect("the bed's link is emulated"), ends)
    }
}
