"""A Rust compiler with the standard library of another processor, from Debian's packages, which are unpacked and not
installed.

rustup adds such a library with `rustup target add`. Not every machine can reach its server, and a library fits only
the very compiler that it was built with, so Debian's compiler comes with Debian's library.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}
_COMPILER, _LIBRARY = "rustc-web", "libstd-rust-web-dev"
"""As new as browsers need it. The packages `rustc` and `libstd-rust-dev` of a stable Debian are too old."""
_SHARED = re.compile(r"\blib(?:std-rust|llvm)[a-z0-9.-]*")
"""The libraries among a package's dependencies that the compiler loads and that a machine without it lacks."""


def compiler(machine: str, host: str, folder: Path) -> str:
    """A command that works as `rustc` and has the library of `machine`. What is fetched is kept in `folder`."""
    target = f"{machine}-unknown-linux-gnu"
    shown = subprocess.run(["rustc", "--print", "target-libdir", "--target", target], capture_output=True, text=True)
    if shown.returncode == 0 and any(Path(shown.stdout.strip()).glob("libstd-*.rlib")):
        return "rustc"
    made = folder / "rustc"
    if not made.exists():
        if shutil.which("apt-get") is None:
            sys.exit(f"rustc lacks the standard library of {machine}: run `rustup target add {target}`")
        local, other = DEBIAN_NAMES[host], DEBIAN_NAMES[machine]
        unpack([f"{_COMPILER}:{local}", f"{_LIBRARY}:{local}", f"{_LIBRARY}:{other}"], folder / "system")
        libraries = folder / f"system/usr/lib/{host}-linux-gnu"
        made.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH="{libraries}" exec "{folder}/system/usr/bin/rustc" "$@"\n')
        made.chmod(0o755)
    return str(made)


def unpack(packages: list[str], folder: Path) -> None:
    """Puts the files of packages, such as `libc6:arm64`, and of the compiler's libraries that they need, below
    `folder`. They come from the package sources of this machine's apt, whose own state does not change."""
    shutil.rmtree(folder, ignore_errors=True)
    state = folder.with_name(f"{folder.name}-apt")
    shutil.rmtree(state, ignore_errors=True)
    for part in ("lists/partial", "archives/partial", "packages"):
        (state / part).mkdir(parents=True)
    options = [f"Dir::State::lists={state}/lists", f"Dir::Cache={state}", "APT::Sandbox::User=root"]
    options += [f"APT::Architectures::={name}" for name in DEBIAN_NAMES.values()]
    apt = ["apt-get", "--quiet", "--quiet", *(f"-o{option}" for option in options)]
    _run([*apt, "update"], state)
    waiting, fetched = list(packages), set[str]()
    while waiting:
        package = waiting.pop()
        fetched.add(package)
        before = set(state.glob("packages/*.deb"))
        _run([*apt, "download", package], state / "packages")
        for archive in set(state.glob("packages/*.deb")) - before:
            _run(["dpkg-deb", "--extract", str(archive), str(folder)], state)
            needs = _run(["dpkg-deb", "--field", str(archive), "Depends"], state)
            architecture = package.partition(":")[2]
            if package.startswith(_COMPILER) or _SHARED.match(package):
                names = {f"{name}:{architecture}" for name in _SHARED.findall(needs)}
                waiting += sorted(names - fetched - set(waiting))
    shutil.rmtree(state)


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed: {done.stderr.strip()[-2000:]}")
    return done.stdout
