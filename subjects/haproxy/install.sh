#!/bin/sh
set -eu
sh ../debian/fetch trixie "$1" 'haproxy=3.0.11-*'
cp serve haproxy.cfg "$1"
