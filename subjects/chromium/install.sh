#!/bin/sh
# Puts the driver and what it needs from npm into the folder $1. The browser is the machine's own.
set -eu
cd "$(dirname "$0")"
cp package.json package-lock.json ./*.mjs page.html "$1"
cd "$1"
PUPPETEER_SKIP_DOWNLOAD=1 npm ci --ignore-scripts --no-audit --no-fund
