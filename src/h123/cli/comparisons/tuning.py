"""Runs the rounds of `h123 tune`. Each round is an ordinary campaign below the tuning's folder, so it can be
resumed."""

import datetime as dt
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from h123.analysis import analyse, blocks_to_part, gather, treatments
from h123.base.errors import UserError
from h123.base.files.durable import write_atomically
from h123.base.files.scratch import scratch
from h123.base.paths import typed
from h123.base.terminal.console import out_console, print_json, quietly, say
from h123.base.terminal.redaction import HIDDEN, PRIVATE
from h123.base.units import counted, format_span
from h123.campaign import DraftedStudy
from h123.cli.answer_form import AnswerForm
from h123.cli.campaigns.run import run_and
from h123.cli.campaigns.run_arguments import RunArguments, campaign_in
from h123.cli.campaigns.trust import require_trust
from h123.cli.comparisons.tuning_arguments import TuneArguments, given, requested
from h123.cli.comparisons.tuning_start import CONFIGS, begin
from h123.documents import read_document
from h123.report import write_report
from h123.store import CampaignFolder, check_new
from h123.study import METRICS, Study, list_knobs, load_study, make_plan
from h123.tuning import (
    ANSWER,
    DEFAULT,
    TUNING,
    HalvingRound,
    Knob,
    KnobEffect,
    KnobLibrary,
    Scores,
    Tuning,
    TuningAnswer,
    TuningClaim,
    TuningRound,
    answer_lines,
    certainty,
    changed,
    claims,
    effects,
    half,
    levels,
    ranked,
    rounds,
    seed_of,
    settings_words,
)

FINAL = "final"
_STALLED = 20
"""The maximum number of times that a round is started. A round can stop early because candidates fail."""


def tune(arguments: TuneArguments) -> int:
    """Run the whole command and return the exit status. Raises Interrupted, UserError."""
    with quietly(is_quiet=arguments.form is AnswerForm.TABLE):
        out = arguments.out or Path("campaigns") / f"tune-{dt.datetime.now():%Y%m%d-%H%M%S}"
        _print(tuned(arguments, out), out, arguments.form)
    return 0


def tuned(arguments: TuneArguments, out: Path) -> TuningAnswer:
    """Run all unfinished rounds, write the answer into the folder `out`, and return it."""
    answer = _Rounds(arguments, out, _take_up(arguments, out)).run()
    write_atomically(out / ANSWER, json.dumps(answer, indent=1) + "\n", PRIVATE)
    return answer


def describe(name: str | None) -> Iterator[str]:
    """Yield lines about the knob files, or about the knobs of one file."""
    if name is None:
        for path in list_knobs():
            library = KnobLibrary.read(str(path))
            yield f"{path.stem:<10} {library.content.title}: {', '.join(library.content.knobs)}"
        return
    for knob, text in KnobLibrary.read(name).content.knobs.items():
        yield f"{knob}: {text.what} ({text.docs})"
        for value, what in text.values.items():
            yield f"  {value or '(nothing)':<10} {what}"


def _take_up(arguments: TuneArguments, out: Path) -> Tuning:
    """Return the tuning in the folder, or a new one. Raises UserError if the folder holds something else."""
    there = read_document(out / TUNING, Tuning) if (out / TUNING).exists() else None
    wanted = None if there and arguments.resumes else requested(arguments)
    if there is None and wanted:
        check_new(out)
        tuning = begin(arguments, wanted, out)
        _trust(tuning, out, own=True)
        write_atomically(out / TUNING, tuning.model_dump_json(indent=1) + "\n", PRIVATE)
        return tuning
    assert there
    asked = wanted.asked if wanted else {**there.asked, **given(arguments)}
    if others := [name for name in {**asked, **there.asked} if asked.get(name) != there.asked.get(name)]:
        raise UserError(
            f"{out} was begun with a different {others[0]}",
            remedy=f"resume it with `h123 tune --out {typed(out)}`, or choose another folder with --out",
        )
    _trust(there, out, own=False)
    say(f"Resuming {typed(out)}")
    return there


def _trust(tuning: Tuning, out: Path, *, own: bool) -> None:
    if tuning.study:
        require_trust(_study(tuning).resolved().get("servers", {}), out, own=own, trusted=False)


def _study(tuning: Tuning) -> Study:
    with scratch() as folder:
        file = folder / "tune.yaml"
        file.write_text(tuning.study, encoding="utf-8")
        return load_study(file)


@dataclass
class _Rounds:
    arguments: TuneArguments
    out: Path
    tuning: Tuning
    dropped: dict[str, str] = field(default_factory=dict)
    scores: Scores = field(default_factory=Scores)
    spent: list[tuple[int, float]] = field(default_factory=list)
    """For each round that this process ran: the number of trials, and the seconds that they took."""

    def run(self) -> TuningAnswer:
        tuning = self.tuning
        self.dropped = dict(tuning.dropped)
        alive = [name for name in tuning.candidates if name not in self.dropped and name != DEFAULT]
        planned, done = list(rounds(len(alive))), list[TuningRound]()
        found: list[KnobEffect] = []
        for each in planned:
            if len(alive) < 2:
                break
            name = f"round-{each.number}"
            say(
                f"Round {each.number} of {len(planned)}: {counted(len(alive), 'candidate')}, "
                f"{counted(each.blocks, 'block')}{self._left(each, planned)}"
            )
            alive = self._choose(self._measure(name, alive, tuning.networks, each.blocks), alive)
            found = found or self._effects(tuning.candidates)
            done.append({"folder": name, "candidates": each.candidates, "blocks": each.blocks})
            alive = alive[: half(len(alive))]
            if alive:
                say(f"  Best candidate so far: {self._settings(alive[0])}")
        chosen = alive[0] if alive else None
        answer, costs = self._decide(chosen) if chosen else ([], [])
        return {
            "h123": "tuning-answer/1",
            "command": tuning.command,
            "question": self.study.question if tuning.study else "Which setting is best?",
            "chosen": tuning.candidates[chosen] if chosen else None,
            "default": tuning.candidates[DEFAULT],
            "margin": tuning.margin,
            "claims": answer,
            "costs": costs,
            "effects": found,
            "rounds": done,
            "blocks": tuning.blocks,
            "dropped": {self._settings(name): why for name, why in self.dropped.items()},
        }

    @cached_property
    def study(self) -> Study:
        return _study(self.tuning)

    def _settings(self, name: str) -> str:
        return settings_words(changed(self.tuning.candidates[name], self.tuning.candidates[DEFAULT]))

    @property
    def _has_also(self) -> bool:
        return "load" in self.study.factors

    def _left(self, each: HalvingRound, planned: Sequence[HalvingRound]) -> str:
        """Say how long the remaining rounds will take, judging by the rounds so far."""
        trials, seconds = (sum(column) for column in zip(*self.spent, strict=True)) if self.spent else (0, 0.0)
        if not trials:
            return ""
        networks = len(self.tuning.networks)
        left = sum((other.candidates + 2) * other.blocks * networks for other in planned if other.number >= each.number)
        left += 3 * self.tuning.blocks * len(self.tuning.held_out) * (1 + self._has_also)
        return f"; about {format_span(left * seconds / trials)} left in all"

    def _measure(self, name: str, alive: Sequence[str], networks: Sequence[str], blocks: int) -> CampaignFolder:
        """Run a round to its end, even if candidates fail, and return its campaign."""
        out = self.out / name
        chosen = levels(alive, networks, also=self._has_also, last=name == FINAL)
        finished = list[CampaignFolder]()

        def finish(folder: CampaignFolder) -> int:
            finished.append(folder)
            return 0

        began, there = time.monotonic(), campaign_in(out)
        if there and (there.level_filter != chosen or there.blocks != blocks):
            raise UserError(f"{out} does not follow from the earlier rounds", remedy="choose another --out")
        question = self.study.question
        if name == FINAL:
            question += f" {alive[0]} is {self._settings(alive[0])}."
        for _ in range(_STALLED):
            draft = DraftedStudy(
                self.study.model_copy(update={"made_by": self.tuning.command, "question": question}),
                chosen,
                seed_of(self.tuning.seed, name),
                self.tuning.study,
                self.out / CONFIGS,
            )
            arguments = RunArguments(
                draft=None if campaign_in(out) else draft,
                out=out,
                blocks=blocks,
                jobs=self.arguments.jobs,
                trust=True,
                engine=self.arguments.engine,
                address=self.arguments.address,
                resume=f"h123 tune --out {typed(self.out)}",
                interim=False,
                form=self.arguments.form,
            )
            finished.clear()
            try:
                run_and(arguments, finish)
            except UserError:
                if not finished:
                    raise
            if not _stopped_early(finished[0]):
                break
        if not there:
            self.spent.append((len(finished[0].events()), time.monotonic() - began))
        return finished[0]

    def _choose(self, folder: CampaignFolder, alive: Sequence[str]) -> list[str]:
        """Return the candidates that work, the best first."""
        metric, tuning = self.tuning.metric, self.tuning
        sign = 1 if METRICS[metric].better == "lower" else -1
        values = {(each.cell["server"], _others(each.cell)): each for each in treatments(gather(folder))}
        for (name, cell), each in values.items():
            default = values[DEFAULT, cell].metrics[metric]
            self._check_default(default.logs, folder)
            logs = each.metrics[metric].logs
            if name == DEFAULT or name in self.dropped:
                continue
            if any(not math.isfinite(log) for log in logs.values()) or logs.keys() != default.logs.keys():
                self.dropped[name] = f"its trials failed: {self._failure(folder, name)}"
            for block in logs.keys() & default.logs.keys():
                self.scores.add(name, cell, sign * (logs[block] - default.logs[block]))
        working = {name: self.scores.of(name) for name in alive if name not in self.dropped}
        default_values = tuning.candidates[DEFAULT]
        return ranked(
            working,
            {name: len(changed(tuning.candidates[name], default_values)) for name in working},
            tuning.margin,
        )

    def _check_default(self, logs: Mapping[int, float], folder: CampaignFolder) -> None:
        if not logs or not all(math.isfinite(log) for log in logs.values()):
            why = self._failure(folder, DEFAULT)
            cure = "choose another --metric" if why.startswith("no value") else "correct the server"
            raise UserError(
                f"the default failed in some trials of {folder.path}: {why}",
                remedy=f"`h123 show` shows these trials; {cure}, and start again with another --out",
                status=1,
            )

    def _failure(self, folder: CampaignFolder, name: str) -> str:
        """Return why the candidate's first failed trial failed, or that it has no value of the metric."""
        for event in folder.events():
            if event["event"] == "trial" and event["cell"]["server"] == name and not event["valid"]:
                return " ".join(event["reasons"][0]["detail"].split()) if event["reasons"] else "unknown"
        return f"no value of {self.tuning.metric}"

    def _effects(self, made: Mapping[str, Mapping[str, str]]) -> list[KnobEffect]:
        """Return the effects of the knobs in the first round, the one with all candidates."""
        knobs = [Knob(name, tuple(values), "") for name, values in self.tuning.knobs.items()]
        scores = {name: self.scores.of(name) for name in made if name not in self.dropped}
        sign = 1 if METRICS[self.tuning.metric].better == "lower" else -1
        return [
            {"knob": name, "value": value, "ratio": math.exp(sign * effect)}
            for name, (value, effect) in effects(knobs, made, scores).items()
        ]

    def _decide(self, chosen: str) -> tuple[list[TuningClaim], list[TuningClaim]]:
        """Run the last round, and return its claims about the metric (the answer), and about everything else (the
        costs)."""
        tuning = self.tuning
        say(f"Last round: {self._settings(chosen)} and the default, {counted(tuning.blocks, 'block')}")
        folder = self._measure(FINAL, [chosen], tuning.held_out, tuning.blocks)
        with folder.alone():
            verdicts = analyse(folder)
            write_report(folder)
        return claims(
            verdicts["comparisons"],
            tuning.metric,
            tuning.margin,
            lambda row, bound: blocks_to_part(row, bound, verdicts),
        )


def _others(cell: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(level for factor, level in sorted(cell.items()) if factor != "server")


def _stopped_early(folder: CampaignFolder) -> bool:
    """Return whether planned trials were never attempted."""
    study = Study.from_resolved(folder.study, folder.networks)
    plan = make_plan(study, blocks=folder.blocks, seed=folder.seed, level_filter=folder.level_filter)
    tried = {event["trial"] for event in folder.events() if event["event"] == "trial"}
    return any(trial.id not in tried for trial in plan.trials())


def repeat_line(command: str) -> str:
    """Return a line with the command that repeats the tuning, which says if values must be put in."""
    put_in = f" (h123 hides secrets: replace each {HIDDEN} with the value)" if HIDDEN in command else ""
    return f"Repeat{put_in}: {command}"


def _print(answer: TuningAnswer, out: Path, form: AnswerForm) -> None:
    if form is AnswerForm.JSON:
        print_json(answer)
        return
    lines = answer_lines(answer, details=form is AnswerForm.DETAILS)
    if form is not AnswerForm.TABLE:
        lines += [certainty(answer)] if answer["claims"] else []
        lines += [repeat_line(answer["command"])]
        lines += [f"Report: {out / FINAL / 'report.html'}"] if answer["claims"] else []
    for line in lines:
        out_console.print(line, soft_wrap=True)
