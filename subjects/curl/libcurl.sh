#!/bin/sh
# Builds a static libcurl 8.14.1, the last version in which ngtcp2, quiche and OpenSSL's QUIC could be compared, and the
# program curl with it, from curl's own source: libcurl.sh WORK ROOT FLAG...
# The compiler takes headers and libraries from ROOT (of ../debian/fetch); the FLAGs of `configure` choose TLS and QUIC.
# WORK/lib/libcurl.a, WORK/include and WORK/curl are the result.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$1 root=$2
shift 2
mkdir -p "$work"
# Without Debian's own changes, which a mirror may have replaced by newer ones before its lists tell of them.
echo 'APT::Get::Tar-Only "true";' >"$work/apt.conf"
APT_CONFIG=$work/apt.conf sh "$here/../debian/source" trixie "$work/source" 'curl=8.14.1-*' \
	6766ada7101d292b42b8b15681120acd68effa4a9660935853cf6d61f0d984d4
cd "$work/source"
machine=$(cc -dumpmachine)
# Packages describe themselves to pkg-config as if ROOT were /. As if for another machine, because what is compiled for
# ROOT's C library may not run on this one's.
PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_LIBDIR=$root/usr/lib/$machine/pkgconfig
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR
./configure --host="$machine" --build="$(./config.guess)" CC="cc --sysroot=$root" CXX="c++ --sysroot=$root" \
	LDFLAGS="-L$root/usr/lib/$machine" --prefix="$work" \
	--enable-unity --disable-shared --enable-static --disable-ldap --disable-manual --disable-docs --disable-dependency-tracking \
	--without-librtmp --without-libssh2 --without-libidn2 --without-libpsl --without-zlib --without-brotli --without-zstd \
	--with-nghttp2 "$@"
make -C lib -j "$(nproc)" libcurl.la
make -C src -j "$(nproc)" curl
mkdir -p "$work/lib" "$work/include/curl"
cp lib/.libs/libcurl.a "$work/lib/"
cp include/curl/*.h "$work/include/curl/"
cp src/curl "$work/"
