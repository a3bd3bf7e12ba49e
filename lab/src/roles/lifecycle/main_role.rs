//! The main role: watched from its start to its end.

use super::{Roles, interrupted};
use crate::files::message::Message;
use crate::files::trial::Role;
use crate::host::monotonic::now_ns;
use crate::link::network::Network;
use crate::roles::ending::Exit;
use crate::roles::process::Event;

/// Between two looks at what the main role's threads have waited for a processor, at first: there may be hundreds.
const WAITING_POLL_NS: u64 = 25_000_000;

impl<'a> Roles<'a> {
    pub fn follow_main(&mut self, role: &'a Role, network: &Network) -> Result<(), Message> {
        let index = self
            .start(role, network)
            .map_err(|e| Message::new("client-failed", format!("role {}: {e:#}", role.name)))?;
        let deadline = role.timeout_ns.map_or(u64::MAX, |t| now_ns().saturating_add(t));
        loop {
            let look = deadline.min(self.look_at_main(index, network));
            match self.processes.wait(look).map_err(Message::setup_failed)? {
                Event::Ended(which) if which == index => return self.main_ended(index, role),
                Event::Ended(which) if self.may_end(which) => {}
                Event::Ended(which) => return Err(self.service_ended(which)),
                Event::Interrupted => return Err(interrupted()),
                Event::Deadline if now_ns() < deadline => {}
                Event::Deadline => {
                    let seconds = role.timeout_ns.unwrap_or(0) as f64 / 1e9;
                    return Err(Message::new(
                        "client-timeout",
                        format!("role {} did not end within {seconds:.1} s{}", role.name, self.tail(role)),
                    ));
                }
            }
        }
    }

    /// Looks at what the main role's threads have waited, what all roles have used and how connections are; returns when to
    /// look again. Where processing takes no time, only connections tell anything.
    fn look_at_main(&mut self, index: usize, network: &Network) -> u64 {
        if !self.usage.takes_time() {
            return self.look_at_connections(network);
        }
        if now_ns() >= self.waiting_due_ns {
            // Its threads take what they have waited with them: it is read while they live.
            let waiting = self.processes.waiting(index);
            let longest = &mut self.started.last_mut().expect("just started").main_waiting;
            *longest = (*longest).max(Some(waiting));
            self.waiting_due_ns = now_ns() + self.usage.pace_ns(now_ns(), WAITING_POLL_NS);
        }
        if now_ns() >= self.usage.due_ns() {
            let used = self.used();
            self.usage.look(now_ns(), used);
        }
        self.look_at_connections(network);
        // Connections wait for the next of these: to wake up for them alone would cost more than to look at them.
        self.usage.due_ns().min(now_ns() + WAITING_POLL_NS)
    }

    /// Looks at how connections are, if it is time to; returns when to look again.
    fn look_at_connections(&mut self, network: &Network) -> u64 {
        let Some(tcp) = &mut self.tcp else {
            return u64::MAX;
        };
        if now_ns() >= tcp.due_ns() {
            tcp.look(network);
        }
        tcp.due_ns()
    }

    fn main_ended(&self, index: usize, role: &Role) -> Result<(), Message> {
        match self.exit(index) {
            Some(Exit { code: Some(0), .. }) => Ok(()),
            Some(exit) => Err(self.failure("client-failed", role, exit)),
            None => Ok(()),
        }
    }
}
