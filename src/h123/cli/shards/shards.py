"""`h123 shards`: prints a job file that runs a campaign as shards."""

import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from h123.base.errors import UserError
from h123.base.paths import checkout
from h123.base.units import format_span
from h123.cli.options import (
    BlocksOption,
    ClockOption,
    FilterOption,
    ScaleOption,
    SeedOption,
    StudyArgument,
    TransportOption,
)
from h123.cli.shards.job_files.job import HOSTED_S, Job, System, shards_of

if TYPE_CHECKING:
    from h123.study import Plan

_TEMPLATES = {"slurm": "slurm.sh.j2", "kubernetes": "kubernetes.yaml.j2", "github": "github.yaml.j2"}
_LONGEST_NAME = 40
_CPUS = 2
"""The default number of processors for a job that runs virtual trials."""
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*")


def command(
    study: StudyArgument,
    system: Annotated[System, typer.Option("--for", help="System that will run the job.", show_default=False)],
    shards: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of shards. [default: one for each block, but at most 1000 (GitHub: 256)]",
            show_default=False,
        ),
    ] = None,
    blocks: BlocksOption = None,
    seed: SeedOption = None,
    levels: FilterOption = None,
    scale: ScaleOption = None,
    clock: ClockOption = None,
    transport: TransportOption = None,
    cpus: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Number of processors for each shard, if all trials use the virtual clock."
        ),
    ] = _CPUS,
    image: Annotated[
        str | None,
        typer.Option(
            metavar="IMAGE",
            help="With --for kubernetes: an image that contains h123 and the subjects (docs/cluster.md).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print a job file that runs a study as shards: an array for Slurm, an Indexed Job for Kubernetes, or a matrix for
    GitHub.

    A shard has one block, or several if there are more blocks than shards. Each task of the array or matrix runs one
    shard and writes its folder; a restarted task resumes where it stopped. `h123 join` combines the folders.
    docs/cluster.md describes all steps, and how each system affects accuracy.

    Examples:

    `h123 shards quick --for slurm --clock virtual`

    `h123 shards study.yaml --for github --seed 7`
    """
    from h123.study import find_study, load_study, make_plan, parse_filter

    path, level_filter = find_study(study), parse_filter(levels or [])
    settled = load_study(path).scaled(1.0 if scale is None else scale).settled(clock=clock, transport=transport)
    plan = make_plan(settled, blocks=blocks, seed=seed, level_filter=level_filter)
    options = ["--seed", str(plan.seed), "--blocks", str(plan.planned)]
    options += ["--scale", f"{scale:g}"] if scale is not None else []
    options += ["--clock", clock.value] if clock else []
    options += ["--transport", transport.value] if transport else []
    options += [word for option in levels or [] for word in ("--filter", option)]
    job = _job(plan, path, study, options, system, shards, cpus, image)
    sys.stdout.write(_render(system, job))


def _job(
    plan: "Plan",
    path: Path,
    study: str,
    options: list[str],
    system: System,
    asked: int | None,
    cpus: int,
    image: str | None,
) -> Job:
    """Return the values for the job file. Raises UserError if the system cannot run the plan."""
    from h123.campaign import check_campaign, require_travelling
    from h123.execution import kept_bytes
    from h123.study import is_path

    require_travelling(plan)
    virtual = all(trial.parameters.clock == "virtual" for trial in plan.blocks[0])
    seconds = {trial: estimate.seconds for trial, estimate in plan.estimates().items()}
    block_s = [sum(seconds[trial.id] for trial in block) / (cpus if virtual else 1) for block in plan.blocks]
    number = shards_of(system, asked, plan.planned)
    longest_s = max(sum(block_s[first::number]) for first in range(number))
    text, program = None, _program()
    if system == "kubernetes":
        _check_image(image, plan)
        text = path.read_text(encoding="utf-8").strip("\n") if is_path(study) else None
        program = "h123"
    if system == "github":
        program = "h123/h123"
        if Path(study).is_absolute():
            raise UserError(f"{study} is a path on this machine", remedy="name the study by its path in the repository")
        if max(block_s) > HOSTED_S:
            raise UserError(
                f"a block takes about {format_span(max(block_s))}, and GitHub ends a job after {format_span(HOSTED_S)}",
                remedy="make the block smaller (--filter, --scale), or run it on machines of your own",
            )
    subjects = sorted(check_campaign(plan)) + (["virtual-kernel"] if virtual else [])
    name = re.sub(r"[^a-z0-9]+", "-", f"h123-{plan.study.name}".lower())[:_LONGEST_NAME].strip("-")
    kept = kept_bytes(plan.trials(), plan.study.networks)
    return Job(
        name, program, study, options, plan.planned, number, longest_s, virtual, kept, subjects, cpus, image or "", text
    )


def _check_image(image: str | None, plan: "Plan") -> None:
    if image is None:
        raise UserError(
            "--for kubernetes needs an image that contains h123",
            remedy="name it with --image; docs/cluster.md has a Dockerfile",
        )
    if not _IMAGE.fullmatch(image):
        raise UserError(f"--image {image}: not a valid image name")
    if plan.uploads():
        raise UserError(
            f"study {plan.study.name} uploads files, which a job file cannot contain",
            remedy="put the study and its files into the image, and name the study by its path there",
        )


def _program() -> str:
    """Return the path of this h123, quoted for the shell, for machines that have the same files."""
    root = checkout()
    found = root / "h123" if root else shutil.which("h123") or sys.argv[0]
    return shlex.quote(str(Path(found).absolute()))


def _render(system: System, job: Job) -> str:
    import jinja2

    loader = jinja2.PackageLoader("h123.cli.shards.job_files", "")
    environment = jinja2.Environment(
        loader=loader,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
    )
    return environment.get_template(_TEMPLATES[system]).render(job=job)
