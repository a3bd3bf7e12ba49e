#!/bin/sh
set -eu
sh ../debian/fetch trixie "$1" 'lighttpd=1.4.79-*' 'lighttpd-mod-openssl=1.4.79-*'
cp serve lighttpd.conf "$1"
