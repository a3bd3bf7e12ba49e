#!/bin/sh
set -eu
sh ../debian/fetch sid "$1" 'nginx=1.30.*'
cp ../nginx/serve "$1"
# This version's congestion control is sound (see nginx.conf), so a stream may be as wide as others' are: 6 MiB.
sed -e 's/ssl_protocols TLSv@tls@;/&\n    ssl_early_data on;/' -e 's/^ *# Over HTTP.3 a stream.*/    http3_stream_buffer_size 6m;/' ../nginx/nginx.conf >"$1/nginx.conf"
