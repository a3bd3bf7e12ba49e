//! The processes of a role: all that descend from its own, whatever sessions they have made. A browser has a session apart
//! from the program that drives it. A process whose parent has gone is known by its session, if that was seen before.

use std::collections::HashMap;

use crate::host::account::{Relations, processes, session_of};

/// Which process belongs to which role.
#[derive(Debug, Default)]
pub struct ProcessTree {
    /// Of each session the process of its role; the roles' own from the beginning.
    sessions: HashMap<i32, i32>,
    roles: Vec<i32>,
}

impl ProcessTree {
    /// A role has begun with this process.
    pub fn add(&mut self, role: i32) {
        self.roles.push(role);
    }

    /// The living processes of the roles, each with its role's process.
    pub fn living(&mut self) -> Vec<(i32, i32)> {
        let all: HashMap<i32, Relations> = processes().filter_map(|pid| Some((pid, Relations::of(pid)?))).collect();
        self.learn(&all);
        let living = all.iter().filter(|(_, its)| !its.zombie);
        living.filter_map(|(&pid, _)| Some((pid, self.role_of(pid, &all)?))).collect()
    }

    /// The role that a session belongs to, by its process.
    pub fn role_of_session(&self, session: i32) -> Option<i32> {
        let own = self.roles.contains(&session).then_some(session);
        own.or_else(|| self.sessions.get(&session).copied())
    }

    /// Keeps in mind whose sessions there are, but for ours, in which more than one role may be.
    fn learn(&mut self, all: &HashMap<i32, Relations>) {
        let ours = session_of(std::process::id() as i32);
        for (&pid, its) in all {
            if let (false, Some(role)) = (Some(its.session) == ours, self.forebear(pid, all)) {
                self.sessions.entry(its.session).or_insert(role);
            }
        }
    }

    fn role_of(&self, pid: i32, all: &HashMap<i32, Relations>) -> Option<i32> {
        let session = all.get(&pid).map(|its| its.session);
        self.forebear(pid, all).or_else(|| self.role_of_session(session?))
    }

    /// The role's process that this one descends from, if it is not itself one.
    fn forebear(&self, pid: i32, all: &HashMap<i32, Relations>) -> Option<i32> {
        let parent = |&pid: &i32| Some(all.get(&pid)?.parent);
        std::iter::successors(Some(pid), parent).take(all.len() + 1).find(|pid| self.roles.contains(pid))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    /// A process, which sleeps at the end of a line of others, and its role's, a shell's.
    fn descendant(script: &str) -> (i32, std::process::Child) {
        let mut shell = Command::new("setsid").args(["sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (line.trim().parse().unwrap(), shell)
    }

    #[test]
    fn a_session_of_its_own_is_still_the_roles() {
        let script = "setsid sh -c 'echo $$; exec sleep 60' & wait";
        let (process, mut shell) = descendant(script);
        let role = shell.id() as i32;
        let mut tree = ProcessTree::default();
        assert_eq!(tree.living(), []);
        tree.add(role);
        assert!(tree.living().contains(&(process, role)));
        assert_eq!(tree.role_of_session(process), Some(role));

        // Its parent goes, and nothing but its session tells any more whose it was.
        shell.kill().unwrap();
        shell.wait().unwrap();
        assert_eq!(tree.living(), [(process, role)]);
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), nix::sys::signal::SIGKILL).unwrap();
    }
}
