#!/bin/sh
# h2load with HTTP/3 into the folder $1, from nghttp2's own source, for Debian builds it without. It is written in C++23, and
# so Debian unstable's compiler is taken, too, and dropped afterwards. All is linked statically.
set -eu
prefix=$1
work=$prefix/work
root=$work/root
version=1.70.0
machine=$(cc -dumpmachine)

die() {
	echo "h2load-sid: $1" >&2
	exit 1
}

# wrap NAME PROGRAM ARGUMENT...: a command that runs a program below root/ with the C library that it was made for.
wrap() {
	name=$1
	shift
	printf '#!/bin/sh\nexec "%s/run" %s "$@"\n' "$work" "$*" >"$work/bin/$name"
	chmod +x "$work/bin/$name"
}

sh ../h2load/build.sh "$prefix"
sh ../debian/fetch sid "$work" 'g++-16=16.*' 'libngtcp2-dev=1.24.*' 'libngtcp2-crypto-ossl-dev=1.24.*' 'libnghttp3-dev=1.17.*' \
	'libssl-dev=3.6.*' 'libev-dev=*' 'libc-ares-dev=*' 'zlib1g-dev=*' 'libzstd-dev=*' 'libjemalloc-dev=*'
# Without Debian's own changes, which a mirror may have replaced by newer ones before its lists tell of them.
echo 'APT::Get::Tar-Only "true";' >"$work/apt.conf"
APT_CONFIG=$work/apt.conf sh ../debian/source sid "$work/source" "nghttp2=$version-*" \
	aa317e2cf9dca6afa0aed68f8fad6ff303ec6982e25a78c75c0b65e2b9b3ded5

# The compiler starts these, which would be looked for beside it, and would be started with the machine's C library.
mkdir "$work/bin"
for program in cc1 cc1plus collect2; do
	wrap $program "usr/libexec/gcc/$machine/16/$program"
done
for program in as ld ar ranlib nm strip; do
	wrap $program "usr/bin/$machine-$program"
done
wrap gcc-static "usr/bin/$machine-gcc-16" "-B'$work/bin'" "--sysroot='$root'" -static
wrap g++-static "usr/bin/$machine-g++-16" "-B'$work/bin'" "--sysroot='$root'" -static

cd "$work/source"
PATH=$work/bin:$PATH
PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_LIBDIR=$root/usr/lib/$machine/pkgconfig
export PATH PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR
# `--enable-app` and `--enable-http3`: an error where something for them is missing, which else would be left out.
# jemalloc, as Debian's own has it, is linked with the mathematical functions.
./configure CC=gcc-static CXX=g++-static CFLAGS=-O2 CXXFLAGS=-O2 LIBS=-lm PKG_CONFIG='pkg-config --static' \
	--enable-app --enable-http3 --with-jemalloc --disable-shared --disable-dependency-tracking \
	--disable-examples --disable-hpack-tools --without-systemd --without-libxml2 --without-jansson --without-libevent-openssl \
	--without-libbrotlienc --without-libbrotlidec --without-libbpf --without-mruby --without-neverbleed
make -C lib -j "$(nproc)"
make -C third-party -j "$(nproc)"
make -C src -j "$(nproc)" h2load
strip -o "$prefix/h2load" src/h2load

# Asked for HTTP/3, one without it would use TCP, and keep no record of QUIC.
timeout 2 "$prefix/h2load" --alpn-list=h3 --qlog-file-base="$work/quic" https://127.0.0.1:9/ >"$work/said" 2>&1 || :
[ -e "$work/quic.0.0.sqlog" ] || die "h2load was built, but it has no HTTP/3: $(cat "$work/said")"
cp -a "$root/usr/share/doc" "$prefix/doc"
cp COPYING "$prefix/doc/nghttp2"
cp "$work/packages.tsv" "$prefix/"
rm -r "$work"
