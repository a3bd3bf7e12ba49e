//! The links of a trial as they are found: checked before it, read after it.

use std::path::Path;

use anyhow::Result;

use crate::check::link_check::{self, CheckReport};
use crate::files::message::Message;
use crate::files::per_direction::PerDirection;
use crate::files::per_direction::{DOWN, UP};
use crate::files::trial::{Link, Trial};
use crate::link::cross_traffic::CrossTraffic;
use crate::link::network::Network;
use crate::roles::report::{CrossReport, LinkReport, Report};

/// Times that a link may be checked before a trial.
const CHECKS: usize = 3;

/// Checks each link; those that fail are a reason.
pub fn check(trial: &Trial, network: &mut Network, report: &mut Report) -> Result<(), Message> {
    for (index, link) in trial.links.iter().enumerate() {
        let mut checked = check_link(network, index, link).map_err(Message::setup_failed)?;
        for _ in 1..CHECKS {
            // A link that is wrong is wrong again; a machine that stalled for a moment is not.
            let Some(failed) = checked.take_if(|c| !c.passed) else {
                break;
            };
            let detail = format!("{}: {}", link.name, failed.failures.join("; "));
            report.warnings.push(Message::new("link-check-repeated", detail));
            checked = check_link(network, index, link).map_err(Message::setup_failed)?;
        }
        let omissions = checked.iter().flat_map(|c| &c.omissions);
        let unchecked = omissions.map(|what| Message::new("link-unchecked", format!("{}: {what}", link.name)));
        report.warnings.extend(unchecked);
        report.links[index].check = checked;
    }
    Ok(())
}

/// Checks a link both ways; none for a veth.
fn check_link(network: &mut Network, index: usize, link: &Link) -> Result<Option<CheckReport>> {
    let (a, b) = (network.position(&link.a.host), network.position(&link.b.host));
    let ends = [(&network.hosts[a], link.a.address), (&network.hosts[b], link.b.address)];
    network.links[index].as_mut().map(|emulated| link_check::check(emulated, ends)).transpose()
}

/// What the checks found wrong.
pub fn failures(links: &[LinkReport]) -> Result<(), Message> {
    let failures = links.iter().flat_map(|link| {
        link.check.iter().flat_map(|c| &c.failures).map(move |failure| format!("{}: {failure}", link.name))
    });
    match failures.collect::<Vec<_>>() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(Message::new("link-check-failed", failures.join("; "))),
    }
}

/// Begins the measured course of every link.
pub fn begin(network: &mut Network) -> Result<(), Message> {
    for emulated in network.links.iter_mut().flatten() {
        let course = emulated.course.clone();
        emulated.link.begin(&course).map_err(Message::setup_failed)?;
        if let Some(cross) = &mut emulated.cross {
            cross.begin();
        }
    }
    Ok(())
}

/// Ends it; records of packets go into the folder, if there is one.
pub fn read(network: &mut Network, folder: Option<&Path>, report: &mut Report) -> Result<(), Message> {
    let mut overrun = vec![];
    for (emulated, link_report) in network.links.iter_mut().zip(&mut report.links) {
        let Some(emulated) = emulated else { continue };
        let received = emulated.cross.as_ref().map(CrossTraffic::received);
        let base = emulated.base.clone();
        let turn = emulated.link.begin(&base).map_err(Message::setup_failed)?;
        let [up, down] = turn.ledgers;
        let missed = up.overrun + down.overrun;
        if missed > 0 {
            overrun.push(format!(
                "{}: its thread stalled for so long that the kernel dropped {missed} packets before it",
                link_report.name
            ));
        }
        link_report.stalls = Some(up.stalls.clone().join(down.stalls.clone()));
        link_report.cross = received.map(|received| PerDirection {
            up: CrossReport::new(&up, received[UP]),
            down: CrossReport::new(&down, received[DOWN]),
        });
        link_report.directions = Some(PerDirection { up: up.into(), down: down.into() });
        if let (Some(packets), Some(folder)) = (turn.packets, folder) {
            match packets.save(folder, &link_report.name) {
                Ok(left_out) => link_report.packets_left_out = Some(left_out),
                Err(error) => report.warnings.push(Message::evidence_lost(error)),
            }
            match packets.save_frames(folder, &link_report.name) {
                Ok(None) => {}
                Ok(Some(frames)) => {
                    link_report.frames_left_out = Some(frames.left_out);
                    link_report.frames_unread = Some(frames.unread);
                }
                Err(error) => report.warnings.push(Message::evidence_lost(error)),
            }
        }
    }
    if overrun.is_empty() { Ok(()) } else { Err(Message::new("link-overrun", overrun.join("; "))) }
}
