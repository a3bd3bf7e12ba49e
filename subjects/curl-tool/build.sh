#!/bin/sh
# build.sh PREFIX CURL BACKEND: compiles PREFIX/h123-curl-tool, which drives the program CURL below PREFIX/root, and looks
# whether that curl has the QUIC it is said to have: ngtcp2, quiche, or else OpenSSL's own.
set -eu
prefix=$1 curl=$2 backend=$3
cd "$(dirname "$0")"
version=$("$prefix/run" "$curl" --version)
others=$(echo "$version" | grep -o -E ' (ngtcp2|quiche)/' | tr -d ' /' | tr '\n' ' ')
case $version in
*HTTP3*) ;;
*) others="none" ;;
esac
[ "${others:-openssl }" = "$backend " ] || {
	echo "build.sh: a curl with the QUIC of $backend is wanted, and this one has ${others:-openssl's}: $version" >&2
	exit 1
}
exec cc -std=gnu11 -O2 -Wall -Wextra -I../c -o "$prefix/h123-curl-tool" ./*.c ../c/*.c
