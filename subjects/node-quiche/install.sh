#!/bin/sh
# Builds the addon and puts it into the folder PREFIX beside the JavaScript: install.sh PREFIX
set -eu
prefix=$1
export CARGO_TARGET_DIR="$prefix/target"
cargo build --release --locked --manifest-path addon/Cargo.toml
mv "$CARGO_TARGET_DIR/release/libh123_quiche.so" "$prefix/h123_quiche.node"
rm -r "$CARGO_TARGET_DIR"
cp -r main.mjs http3.mjs ../node/peer "$prefix"
