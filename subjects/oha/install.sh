#!/bin/sh
# oha from the registry of Rust packages, with the dependencies that its authors have locked, and the driver: into the folder $1.
set -eu
CARGO_TARGET_DIR="$1/target" cargo install oha --version 1.16.0 --locked --root "$1" --no-track
rm -r "$1/target"
cp drive.py ../python/contract.py ../python/samples.py ../python/workload.py "$1/"
