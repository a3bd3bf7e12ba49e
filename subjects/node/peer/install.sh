#!/bin/sh
# Installs the subject in the current folder with its npm packages: install.sh PREFIX FILE...
# package-lock.json pins every package by version and hash; none of their scripts is run.
set -eu
prefix=$1
shift
cp -r package.json package-lock.json "$@" ../node/peer "$prefix"
npm ci --prefix "$prefix" --omit=dev --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
