//! The order of a trial: hosts and links up, links checked, services up, main role, all down.

use std::collections::BTreeMap;

use crate::files::message::Message;
use crate::files::trial::{Clock, Trial};
use crate::host::account::Machine;
use crate::host::monotonic::{kernel_clock, now_ns};
use crate::host::outside::Outside;
use crate::host::watch::Watch;
use crate::link::network::Network;
use crate::roles::inspection;
use crate::roles::lifecycle::{Roles, Setting};
use crate::roles::report::{Counters, HostReport, LinkReport, Report, UserNamespace};
use crate::roles::tcp_account::TcpAccount;

/// Executes the trial. Whatever goes wrong is a reason in the report.
pub fn run_trial(trial: &Trial, setting: &Setting, outside: Option<&Outside>) -> Report {
    let mut report = Report::new(&trial.id, kernel_clock());
    // Under the virtual clock nothing is ever late.
    let watch = (kernel_clock() == Clock::Wall).then(Watch::begin);
    let result = Roles::new(setting, outside).map_err(Message::setup_failed).and_then(|roles| {
        let mut run = TrialRun { trial, setting, roles, report: &mut report };
        run.perform()
    });
    report.machine.stalls = watch.and_then(Watch::end);
    report.reasons.extend(result.err());
    report.valid = report.reasons.is_empty();
    report
}

struct TrialRun<'a> {
    trial: &'a Trial,
    setting: &'a Setting,
    roles: Roles<'a>,
    report: &'a mut Report,
}

impl TrialRun<'_> {
    fn perform(&mut self) -> Result<(), Message> {
        let begin = now_ns();
        let mut network = Network::build(self.trial).map_err(Message::setup_failed)?;
        self.describe(&mut network);
        self.report.phases_ns.setup = now_ns() - begin;
        let result = self.check(&mut network).and_then(|()| self.play(&mut network));
        let begin = now_ns();
        let stopped = self.roles.stop_all().map_err(Message::setup_failed);
        self.report.roles = self.roles.describe();
        self.report.warnings.extend(self.roles.killed());
        self.report.warnings.extend(self.roles.left_behind());
        self.roles.kill_all();
        self.report.warnings.extend(self.roles.shorten_logs());
        drop(network);
        self.report.phases_ns.teardown = now_ns() - begin;
        result.and(stopped)
    }

    fn describe(&mut self, network: &mut Network) {
        self.report.warnings.append(&mut network.warnings);
        self.report.user_namespace = (kernel_clock() == Clock::Wall).then(|| UserNamespace::here(network)).flatten();
        self.report.hosts = HostReport::of_all(network);
        self.report.links = LinkReport::of_all(network, self.trial);
    }

    fn check(&mut self, network: &mut Network) -> Result<(), Message> {
        if !self.trial.check {
            return Ok(());
        }
        let begin = now_ns();
        inspection::check(self.trial, network, self.report)?;
        self.report.phases_ns.check = now_ns() - begin;
        inspection::failures(&self.report.links)
    }

    /// From the first service's start to the main role's end.
    fn play(&mut self, network: &mut Network) -> Result<(), Message> {
        let begin = now_ns();
        for role in self.trial.services() {
            let outcome = self.roles.bring_up(role, network);
            self.report.phases_ns.ready = now_ns() - begin;
            outcome?;
        }
        let ahead_ns = network.start_cross_traffic().map_err(Message::setup_failed)?;
        if ahead_ns > 0 {
            self.roles.stand_by(now_ns() + ahead_ns)?;
            self.report.phases_ns.ready = now_ns() - begin;
        }
        self.take_counters(network, |c| &mut c.before)?;
        inspection::begin(network)?;
        let services_before = self.roles.waiting();
        let machine = Machine::now();
        let begin = now_ns();
        let tcp = self.trial.tcp_account;
        let tcp = tcp.then(|| TcpAccount::begin(kernel_clock(), begin));
        let outcome = self.roles.run_main(self.trial.main(), network, begin, tcp);
        self.report.phases_ns.main = now_ns() - begin;
        self.report.main_began_ns = begin;
        self.report.machine = Machine::now().since(&machine);
        self.roles.note_waiting(services_before);
        self.take_counters(network, |c| &mut c.after)?;
        let read = inspection::read(network, self.setting.folder(), self.report);
        match self.roles.save_tcp() {
            Ok(left_out) => self.report.tcp_left_out = left_out,
            Err(error) => self.report.warnings.push(Message::evidence_lost(error)),
        }
        outcome.and(read)
    }

    fn take_counters(
        &mut self,
        network: &mut Network,
        which: fn(&mut Counters) -> &mut BTreeMap<String, i64>,
    ) -> Result<(), Message> {
        for (host, report) in network.hosts.iter_mut().zip(&mut self.report.hosts) {
            *which(&mut report.counters) = host.counters().map_err(Message::setup_failed)?;
        }
        Ok(())
    }
}
