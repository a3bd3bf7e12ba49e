#!/bin/sh
set -eu
sh ../debian/fetch trixie "$1" 'nginx=1.26.3-*' 'libnginx-mod-stream=1.26.3-*'
cp serve nginx.conf "$1"
cd ../go
exec ./install.sh "$1" h123-go
