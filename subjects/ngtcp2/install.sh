#!/bin/sh
set -eu
sh ../debian/fetch trixie "$1" 'ngtcp2-server=1.11.0-*'
cp serve "$1"
