#!/bin/sh
set -eu
sh ../debian/fetch bookworm "$1" 'nghttp2-client=1.52.0-*'
cp h2load "$1"
sh build.sh "$1"
