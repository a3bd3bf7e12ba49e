#!/bin/sh
set -eu
sh ../debian/fetch sid "$1" 'nginx=1.30.*'
cp ../nginx/serve "$1"
sed 's/ssl_protocols TLSv1.3;/&\n    ssl_early_data on;/' ../nginx/nginx.conf >"$1/nginx.conf"
