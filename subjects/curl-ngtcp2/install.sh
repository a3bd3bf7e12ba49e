#!/bin/sh
# Debian 13's C library, OpenSSL and nghttp2, its backport of ngtcp2, and curl's own source: everything into the folder $1.
set -eu
prefix=$1
work=$prefix/work
sh ../debian/fetch trixie "$prefix" 'libc6-dev=2.41-*' 'libssl3t64=3.5.*' 'libnghttp2-14=1.64.*' -- \
	'libssl-dev=3.5.*' 'libnghttp2-dev=1.64.*'
# Only what links statically, so nothing that these depend on.
sh ../debian/fetch trixie-backports "$work/backports" -- 'libngtcp2-dev=1.22.*' 'libngtcp2-crypto-ossl-dev=1.22.*' \
	'libnghttp3-dev=1.15.*'
cp -a "$work/backports/root/usr/." "$prefix/root/usr/"
cat "$work/backports/packages.tsv" >>"$prefix/packages.tsv"
root=$prefix/root
libraries=$(echo "$root"/usr/lib/*-linux-gnu*)
sh ../curl/libcurl.sh "$work" "$root" --with-openssl --with-ngtcp2 --with-nghttp3
sh ../curl/build.sh "$prefix/h123-curl" --sysroot="$root" -L"$libraries" -I"$work/include" "$work/lib/libcurl.a" \
	"$libraries/libngtcp2_crypto_ossl.a" "$libraries/libngtcp2.a" "$libraries/libnghttp3.a" "$libraries/libnghttp2.a" \
	-lssl -lcrypto
cp "$work/curl" "$prefix/"
sh ../curl-tool/build.sh "$prefix" "$prefix/curl" ngtcp2
rm -rf "$work" "$root/usr/include" "$libraries"/*.a
