#!/bin/sh
# Puts a subject that drives a browser into PREFIX: its own folder, this one, and what its package-lock.json names, from npm.
# The browser itself is the machine's. Usage: sh ../browser/install.sh PREFIX FOLDER
set -eu
prefix=$1
cd "$(dirname "$0")/.."
cp -r browser "$2" "$prefix/"
rm -rf "$prefix/$2/node_modules"
cp "$2/package.json" "$2/package-lock.json" "$prefix/"
cd "$prefix"
npm ci --ignore-scripts --no-audit --no-fund
