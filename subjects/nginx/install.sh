#!/bin/sh
set -eu
sh ../debian/fetch trixie "$1" 'nginx=1.26.3-*'
cp serve nginx.conf "$1"
