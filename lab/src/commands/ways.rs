//! `ways`: the ways in which this machine lets this user run a trial. This is the one place that chooses one.

use nix::unistd::geteuid;
use serde::Serialize;

use crate::files::overlay::{self, Owner};
use crate::host::enclosure;
use crate::host::namespace::Host;
use crate::host::privilege::{self, Obstacle};
use crate::host::realtime;
use crate::link::tun;

/// The ways to run a trial, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Privileges {
    Root,
    UserNamespace,
    /// A virtual kernel without any namespace of the machine's.
    VirtualClock,
}

#[derive(Serialize)]
struct Ways {
    chosen: Privileges,
    ways: [Offer; 3],
}

#[derive(Serialize)]
struct Offer {
    way: Privileges,
    open: bool,
    /// Links that are emulated in real time; false where /dev/net/tun is closed.
    links: bool,
    /// What it costs, or why it is closed.
    detail: String,
    /// How to open it, or more of it; empty where there is nothing to do.
    remedy: String,
}

/// The best that there is.
pub fn best() -> Privileges {
    let namespace = privilege::in_user_namespace();
    if privilege::privileged() && !privilege::filtered() {
        return if namespace { Privileges::UserNamespace } else { Privileges::Root };
    }
    match enclosure::try_out(build) {
        Ok(()) if privilege::privileged() && !namespace => Privileges::Root,
        Ok(()) => Privileges::UserNamespace,
        Err(_) => Privileges::VirtualClock,
    }
}

/// All that a trial begins with.
fn build() -> u8 {
    let owner = if privilege::in_user_namespace() { Owner::Namespace } else { Owner::Root };
    let built = Host::create("try").and_then(|_| overlay::enter(&[], owner));
    match built {
        Ok(_) => 0,
        Err(error) => {
            eprintln!("h123-lab: {error:#}");
            3
        }
    }
}

/// Prints them as JSON; exit status 0.
pub fn ways() -> u8 {
    let chosen = best();
    let offers = Ways { chosen, ways: [root(chosen), user_namespace(chosen), virtual_clock()] };
    println!("{}", serde_json::to_string(&offers).expect("offers are plain data"));
    0
}

fn root(chosen: Privileges) -> Offer {
    let open = chosen == Privileges::Root;
    let detail = if open {
        "no loss of accuracy"
    } else if geteuid().is_root() {
        "root of a container, or of a user namespace, without the machine's privileges"
    } else {
        "you are not root"
    };
    Offer {
        way: Privileges::Root,
        open,
        links: open && tun::openable().is_ok(),
        detail: detail.into(),
        remedy: if open {
            String::new()
        } else if geteuid().is_root() {
            "start the container with --privileged --device /dev/net/tun".into()
        } else {
            "sudo $(command -v h123)".into()
        },
    }
}

fn user_namespace(chosen: Privileges) -> Offer {
    let way = Privileges::UserNamespace;
    let tried = match chosen {
        Privileges::Root => Ok(()),
        Privileges::UserNamespace => Ok(()),
        Privileges::VirtualClock => Err(()),
    };
    if tried.is_err() {
        let Obstacle { detail, remedy } = Obstacle::find();
        return Offer { way, open: false, links: false, detail, remedy };
    }
    let links = tun::openable();
    let prompt = realtime::granted();
    let (detail, remedy) = match &links {
        Err(closed) => (format!("{}: no emulated links", closed.detail), closed.remedy),
        Ok(()) if !prompt => (
            "links may be late on a busy machine, because real-time priority is refused; each trial's link check says by how much".into(),
            "for punctual links allow real-time priority: `ulimit -r 99`, or rtprio in /etc/security/limits.conf",
        ),
        Ok(()) => ("other users' files cannot be changed during a trial".into(), ""),
    };
    Offer { way, open: true, links: links.is_ok(), detail, remedy: remedy.into() }
}

fn virtual_clock() -> Offer {
    Offer {
        way: Privileges::VirtualClock,
        open: true,
        links: false,
        detail: "`--clock virtual` needs no privilege and loses no accuracy; processing takes no time there".into(),
        remedy: String::new(),
    }
}
