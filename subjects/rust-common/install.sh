#!/bin/sh
# Builds the Rust subject in the current folder: install.sh PREFIX PROGRAM [LIBRARY]. Only the program stays in
# PREFIX, and the shared LIBRARY.
set -eu
prefix=$1 program=$2 library=${3:-}
export CARGO_TARGET_DIR="$prefix/target"
cargo build --release --locked
mv "$CARGO_TARGET_DIR/release/$program" "$prefix/$program"
if [ -n "$library" ]; then
    find "$CARGO_TARGET_DIR" -path "*/out/lib/*" -name "$library" -exec cp -L {} "$prefix" \;
fi
rm -r "$CARGO_TARGET_DIR"
