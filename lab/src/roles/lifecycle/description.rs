//! What the roles of a trial did, for its report.

use super::{Roles, STOP_TIMEOUT_NS, Setting, Started};
use crate::files::log;
use crate::files::message::Message;
use crate::files::trial::RoleKind;
use crate::roles::report::{RoleCpu, RoleReport};

/// Of the processes that did not end with their roles.
const LEFTOVERS_SHOWN: usize = 5;

impl Roles<'_> {
    pub fn describe(&self) -> Vec<RoleReport> {
        let started = self.started.iter().enumerate();
        started.map(|(position, started)| self.describe_role(position, started)).collect()
    }

    /// Services that did not end when they were asked to.
    pub fn killed(&self) -> Vec<Message> {
        let services = self.started.iter().filter(|s| s.role.kind == RoleKind::Service);
        services
            .filter(|s| self.exit(s.index).is_some_and(|e| e.stopped && e.signal == Some(libc::SIGKILL)))
            .map(|s| {
                let grace = s.role.stop_timeout_ns.unwrap_or(STOP_TIMEOUT_NS);
                let detail =
                    format!("role {} still ran {:.1} s after SIGTERM, and was killed", s.role.name, grace as f64 / 1e9);
                Message::new("killed", detail)
            })
            .collect()
    }

    /// Keeps the logs short that are too long to be kept.
    pub fn shorten_logs(&self) -> Vec<Message> {
        let Setting::Folder(dir) = self.setting else {
            return vec![];
        };
        let mut messages = vec![];
        for started in &self.started {
            let name = &started.role.name;
            match log::shorten(&dir.join(log::file(name))) {
                Ok(None) => {}
                Ok(Some(size)) => messages.push(Message::new(
                    "log-cut",
                    format!("role {name} wrote {size} bytes of log, of which the middle was left out"),
                )),
                Err(error) => messages.push(Message::new("log-cut", format!("the log of role {name}: {error}"))),
            }
        }
        messages
    }

    /// What still ran when its role had ended.
    pub fn left_behind(&self) -> Option<Message> {
        let left = &self.processes.left_behind;
        let mut commands: Vec<_> = left.values().take(LEFTOVERS_SHOWN).cloned().collect();
        if left.len() > commands.len() {
            commands.push(format!("{} more", left.len() - commands.len()));
        }
        (!commands.is_empty()).then(|| {
            let detail = format!("still ran when its role had ended, and was killed: {}", commands.join("; "));
            Message::new("left-behind", detail)
        })
    }

    fn describe_role(&self, position: usize, started: &Started) -> RoleReport {
        let ending = self.processes.get(started.index).ending.as_ref();
        let usage = self.usage.of(position);
        RoleReport {
            name: started.role.name.clone(),
            host: started.role.host.clone(),
            pid_exit: ending.map(|e| e.exit),
            ready_ns: started.ready_ns,
            cpu: RoleCpu {
                user_ns: ending.map_or(0, |e| e.cpu.user_ns),
                system_ns: ending.map_or(0, |e| e.cpu.system_ns),
                main_ns: usage.last().map_or(0, |(_, used)| *used),
                main_wait_ns: started.main_waiting.map(|w| w.wait_ns),
                main_turns: started.main_waiting.map(|w| w.turns),
                main_over_time: usage,
            },
            max_rss_bytes: ending.map_or(0, |e| e.max_rss_bytes),
            log: matches!(self.setting, Setting::Folder(_)).then(|| log::file(&started.role.name)),
        }
    }
}
