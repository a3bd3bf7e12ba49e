#!/bin/sh
# The client into the folder $1, linked statically with Debian 13's C library, OpenSSL and nghttp2 and its backport of
# ngtcp2.
set -eu
prefix=$1
work=$prefix/work
sh ../debian/fetch trixie "$work" -- 'libc6-dev=2.41-*' 'linux-libc-dev=*' 'libssl-dev=3.5.*' 'libnghttp2-dev=1.64.*' \
	'zlib1g-dev=*' 'libzstd-dev=1.5.*'
sh ../debian/fetch trixie-backports "$work/backports" -- 'libngtcp2-dev=1.22.*' 'libngtcp2-crypto-ossl-dev=1.22.*' \
	'libnghttp3-dev=1.15.*'
cp -a "$work/backports/root/usr/." "$work/root/usr/"
cat "$work/packages.tsv" "$work/backports/packages.tsv" >"$prefix/packages.tsv"
root=$work/root
libraries=$(echo "$root"/usr/lib/*-linux-gnu*)
cc -std=gnu11 -O2 -Wall -Wextra -static --sysroot="$root" -L"$libraries" -I../c -o "$prefix/h123-load" \
	./*.c ../c/files.c ../c/options.c ../c/workload.c ../c/page.c ../c/reading.c ../c/json.c ../c/timers.c \
	-lngtcp2_crypto_ossl -lngtcp2 -lnghttp3 -lnghttp2 -lssl -lcrypto -lz -lzstd -lm
cp -a "$root/usr/share/doc" "$prefix/doc"
rm -r "$work"
