#!/bin/sh
set -eu
sh ../debian/fetch sid "$1" 'nginx=1.30.*'
sed -e 's/alt_svc=$9$/& key_share=${10}/' -e 's/s|@processors@|/s|@key_share@|$key_share|; &/' ../nginx/serve >"$1/serve"
chmod 755 "$1/serve"
# This version's congestion control is sound (see nginx.conf), so a stream may be as wide as others' are: 6 MiB.
sed -e 's/ssl_protocols TLSv@tls@;/&\n    ssl_early_data on;/' -e 's/^ *# Over HTTP.3 a stream.*/    http3_stream_buffer_size 6m;/' \
	-e '/# No post-quantum share/d; s/ssl_ecdh_curve X25519/ssl_ecdh_curve @key_share@/' ../nginx/nginx.conf >"$1/nginx.conf"
