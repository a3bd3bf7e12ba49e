#!/bin/sh
set -eu
sh ../debian/fetch trixie "$1" 'libcurl4t64=8.14.1-*' 'curl=8.14.1-*' -- 'libcurl4-openssl-dev=8.14.1-*' 'libssl-dev=3.5.*'
usr=$1/root/usr
libraries=$(echo "$usr"/lib/*-linux-gnu*)
# What those libraries need in their turn is found at run time.
sh ../curl/build.sh "$1/h123-curl" -I"$usr/include" -I"$usr/include/${libraries##*/}" "$libraries/libcurl.so.4" \
	"$libraries/libssl.so.3" "$libraries/libcrypto.so.3" -Wl,--allow-shlib-undefined
sh ../curl-tool/build.sh "$1" usr/bin/curl openssl
