"""Mischiefs that take something away: space or inodes of a disk, the right to write, descriptors, memory, processes."""

import math
import os
import platform
import re
import resource
import subprocess
import threading
import time
from pathlib import Path
from random import Random

import box
from commands import DISK
from rounds import Round
from strikes import Moment

_FREED = "remount,size=50%,nr_inodes=1000000"
HAS_OWN_LIMIT = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2]) >= (6, 14)
"""Whether a PID namespace can have its own limit on processes. In older kernels, the limit is the whole machine's."""
FREE_PIDS = 32000
_PID_MAX, _RESERVED_PIDS = Path("/proc/sys/kernel/pid_max"), 300
"""The kernel gives the first numbers out only once."""


def full_disk(this: Round) -> None:
    """Leave little space or few inodes, at a random moment, on the disk of campaign, cache and temporary files."""
    this.begin()
    moment, room = Moment.drawn(this.draws, this.reference.span_s), _logarithmic(this.draws, 1, 3e6)
    inodes = round(_logarithmic(this.draws, 1, 300)) if this.draws.random() < 0.4 else None
    at_once = this.draws.random() < 0.2
    command = None if at_once else this.run(expected={0, 1})
    if command and not moment.wait(command):
        this.notes.append("the disk was full too late")
    if not any(_leave(int(room), inodes) for _ in range(1000)):  # somebody may write meanwhile
        raise RuntimeError(f"{DISK} cannot be made smaller")
    left = f"{room / 1e3:.0f} kB" if inodes is None else f"{inodes} inodes"
    this.notes.append(f"{left} left, {'before the command' if at_once else moment}")
    (command or this.run(expected={0, 1})).wait()
    box.mount("-o", _FREED, str(DISK))


def read_only_disk(this: Round) -> None:
    """Make the disk read-only from a random moment on."""
    this.begin()
    moment = Moment.drawn(this.draws, this.reference.span_s)
    at_once = this.draws.random() < 0.2
    command = None if at_once else this.run(expected={0, 1, 2})  # 2: a new campaign needs a folder to write to
    if command:
        moment.wait(command)
    while not (done := _remount("ro")) and command and not command.ended:
        time.sleep(0.0005)  # as long as a file is open to be written, the kernel refuses
    this.notes.append(f"read-only {'before the command' if at_once else moment}" if done else "never read-only")
    (command or this.run(expected={0, 1, 2})).wait()
    _remount("rw")


def limits(this: Round) -> None:
    """Run a command with few descriptors, short files or little memory."""
    this.begin()
    limited, least, most = this.draws.choice(
        [(resource.RLIMIT_NOFILE, 6, 80), (resource.RLIMIT_FSIZE, 200, 2e6), (resource.RLIMIT_AS, 1e8, 1e12)]
    )
    limit = int(_logarithmic(this.draws, least, most))
    names = {resource.RLIMIT_NOFILE: "descriptors", resource.RLIMIT_FSIZE: "bytes a file", resource.RLIMIT_AS: "bytes"}
    this.notes.append(f"at most {limit} {names[limited]}")
    this.start({0, 1, 3}, limits={limited: limit}).wait()


def few_processes(this: Round) -> None:
    """Run a command with few processes and threads. RLIMIT_NPROC does not apply to root, but the limit of a PID
    namespace does."""
    this.begin()
    limit = round(_logarithmic(this.draws, 1, 60))
    if not HAS_OWN_LIMIT:
        this.notes.append("not possible with this kernel")
        return
    use_up_reserved_pids()
    allow_processes(limit)
    this.notes.append(f"at most {limit} processes and threads")
    try:
        this.start({0, 1, 3, 130}).wait()  # 130: OpenBLAS interrupts its own process where it gets no thread
    finally:
        allow_processes(FREE_PIDS)


def use_up_reserved_pids() -> None:
    """Use up the reserved PIDs, so that `allow_processes` limits the number exactly."""
    numbers = [0]
    while numbers[-1] < _RESERVED_PIDS:
        thread = threading.Thread(target=lambda: numbers.append(threading.get_native_id()))
        thread.start()
        thread.join()
    while len(list(Path("/proc/self/task").iterdir())) > 1:
        time.sleep(0.001)  # a thread that has been joined may have its number for a moment


def allow_processes(limit: int) -> None:
    """Limit the processes and threads in this box, not counting the first one. Works only if HAS_OWN_LIMIT."""
    _PID_MAX.write_text(str(_RESERVED_PIDS + limit))


def _leave(room: int, inodes: int | None) -> bool:
    """Shrink the disk to what is used plus this many bytes or inodes. Return False if more has been used meanwhile."""
    used = os.statvfs(DISK)
    size = (used.f_blocks - used.f_bfree) * used.f_frsize + room
    limit = f"size={size}" if inodes is None else f"nr_inodes={used.f_files - used.f_ffree + inodes}"
    return _remount(limit)


def _remount(options: str) -> bool:
    try:
        box.mount("-o", f"remount,{options}", str(DISK))
    except subprocess.CalledProcessError:
        return False
    return True


def _logarithmic(draws: Random, least: float, most: float) -> float:
    """Draw a number whose order of magnitude is uniformly distributed."""
    return math.exp(draws.uniform(math.log(least), math.log(most)))
