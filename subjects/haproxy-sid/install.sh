#!/bin/sh
set -eu
sh ../debian/fetch sid "$1" 'haproxy=3.2.*'
# 0-RTT over HTTP/3, and BBR, which is an experimental directive.
sed 's/alpn h3 /alpn h3 allow-0rtt /' ../haproxy/serve >"$1/serve"
sed 's/limited-quic/expose-experimental-directives/' ../haproxy/haproxy.cfg >"$1/haproxy.cfg"
chmod +x "$1/serve"
