#!/bin/sh
set -eu
sh ../debian/fetch sid "$1" 'haproxy=3.2.*'
# 0-RTT over HTTP/3, and BBR, which is an experimental directive.
sed 's/alpn h3 /alpn h3 allow-0rtt /' ../haproxy/serve >"$1/serve"
# This version has other words for how much may be under way: 6 MiB on a stream are 40 % of a connection's.
sed -e 's/limited-quic/expose-experimental-directives/' \
	-e 's/^ *tune.h2.fe.initial-window-size .*/&\n    tune.h2.fe.rxbuf 15m/' \
	-e 's/^\( *tune.quic.frontend\.\)conn-tx-buffers.limit .*/\1default-max-window-size 15m\n\1max-data-size 15m\n\1stream-data-ratio 40/' \
	-e '/stream-data-ratio/r quic-receive.cfg' \
	../haproxy/haproxy.cfg >"$1/haproxy.cfg"
chmod +x "$1/serve"
