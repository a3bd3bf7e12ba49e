#!/bin/sh
# Starts Caddy for one protocol. Usage: sh start.sh h1|h2|h3 CADDY [ARGUMENT...], the rest in the environment (Caddyfile).
set -eu
protocol=$1
shift
case $protocol in
h1) PROTOCOLS=h1 ALPN=http/1.1 HTTP=http/1.1 ;;
h2) PROTOCOLS="h1 h2" ALPN=h2 HTTP=http/2 ;; # h2 alone is refused
h3) PROTOCOLS=h3 ALPN=h3 HTTP=http/3 ;;
*)
    echo "caddy does not speak $protocol" >&2
    exit 127
    ;;
esac
# Without files of its own it passes on all that is asked for.
if [ -n "$FILES" ]; then PASSED=/upload; else PASSED="*" FILES=/nowhere; fi
# A header without a value would be sent as one.
if [ -n "$ALT_SVC" ]; then ANNOUNCED="header Alt-Svc \`$ALT_SVC\`"; else ANNOUNCED=; fi
# Caddy keeps a log of its own care for certificates there; nothing else, as the certificate is given.
state=$(mktemp -d)
export PROTOCOLS ALPN HTTP FILES PASSED ANNOUNCED HOME="$state" XDG_DATA_HOME="$state" XDG_CONFIG_HOME="$state"
exec "$@"
