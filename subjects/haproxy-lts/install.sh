#!/bin/sh
set -eu
# Experimental has HAProxy; the libraries that it needs are unstable's.
sh ../debian/fetch sid "$1" 'libcrypt1=*' 'libjemalloc2=*' 'liblua5.4-0=*' 'libopentracing-c-wrapper0t64=*' 'libpcre2-8-0=*' \
	'libssl3t64=3.6.*'
sh ../debian/fetch experimental "$1/haproxy" -- 'haproxy=3.4.*'
cp -a "$1/haproxy/root/usr/." "$1/root/usr/"
cat "$1/haproxy/packages.tsv" >>"$1/packages.tsv"
rm -rf "$1/haproxy"
sed 's/alpn h3 /alpn h3 allow-0rtt /' ../haproxy/serve >"$1/serve"
# The settings of haproxy-sid under the names that they have since 3.3; BBR is no longer experimental.
sed -e '/limited-quic/d' \
	-e 's/^ *tune.h2.fe.initial-window-size .*/&\n    tune.h2.fe.rxbuf 15m/' \
	-e 's/frontend.max-streams-bidi/fe.stream.max-concurrent/; s/frontend.max-idle-timeout/fe.max-idle-timeout/' \
	-e 's/^\( *tune.quic.\)frontend.conn-tx-buffers.limit .*/\1fe.cc.max-win-size 15m\n\1fe.stream.rxbuf 15m\n\1fe.stream.data-ratio 40/' \
	-e '/data-ratio/r ../haproxy-sid/quic-receive.cfg' \
	../haproxy/haproxy.cfg | sed 's/socket-owner listener/fe.sock-per-conn force-off/' >"$1/haproxy.cfg"
chmod +x "$1/serve"
