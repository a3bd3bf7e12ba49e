#!/bin/sh
set -eu
sh ../debian/fetch trixie "$1" 'nghttp2-proxy=1.64.0-*'
cp serve "$1"
