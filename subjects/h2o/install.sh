#!/bin/sh
set -eu
sh ../debian/fetch bookworm "$1" 'h2o=2.2.5+dfsg2-*'
cp serve h2o.conf "$1"
