#!/bin/sh
set -eu
sh ../debian/fetch trixie "$1" 'apache2-bin=2.4.*'
cp serve httpd.conf "$1"
