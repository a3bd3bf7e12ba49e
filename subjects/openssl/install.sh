#!/bin/sh
# Debian's OpenSSL and nghttp3 into the folder $1, and the server compiled against them.
set -eu
sh ../debian/fetch trixie "$1" 'libssl3t64=3.5.*' 'libnghttp3-9=1.8.0-*' -- 'libssl-dev=3.5.*' 'libnghttp3-dev=1.8.0-*'
usr=$1/root/usr
libraries=$(echo "$usr"/lib/*-linux-gnu*)
# What those libraries need in their turn is found at run time.
cc -std=gnu11 -O2 -Wall -Wextra -I../c -I"$usr/include" -I"$usr/include/${libraries##*/}" -o "$1/h123-openssl" \
	./*.c ../c/options.c ../c/workload.c ../c/page.c ../c/reading.c ../c/json.c \
	"$libraries/libnghttp3.so.9" "$libraries/libssl.so.3" "$libraries/libcrypto.so.3" -Wl,--allow-shlib-undefined
