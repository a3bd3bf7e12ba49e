#!/bin/sh
# Builds the addon and puts it into the folder PREFIX beside the JavaScript: install.sh PREFIX
# A target folder of one's own (CARGO_TARGET_DIR) is used and stays: compiling BoringSSL takes minutes.
set -eu
prefix=$1
target=${CARGO_TARGET_DIR:-$prefix/target}
cargo build --release --locked --manifest-path addon/Cargo.toml --target-dir "$target"
cp "$target/release/libh123_quiche.so" "$prefix/h123_quiche.node"
rm -rf "$prefix/target"
cp -r main.mjs http3.mjs ../node/peer "$prefix"
