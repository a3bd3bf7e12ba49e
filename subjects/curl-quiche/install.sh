#!/bin/sh
# Debian 13's C library and nghttp2, Cloudflare's quiche with its BoringSSL from the registry of Rust packages, and curl's own source: everything
# into the folder $1.
set -eu
prefix=$1
work=$prefix/work
sh ../debian/fetch trixie "$prefix" 'libc6-dev=2.41-*' 'libnghttp2-14=1.64.*' -- 'libnghttp2-dev=1.64.*'
root=$prefix/root
libraries=$(echo "$root"/usr/lib/*-linux-gnu*)

# BoringSSL and quiche stand in ROOT as if they were packages.
CARGO_TARGET_DIR=$work/target cargo build --release --locked
boring=$(dirname "$(dirname "$(find "$work/target/release/build" -path '*/build/libssl.a')")")
cp -r "$boring/boringssl/include/openssl" "$root/usr/include/"
cp "$boring/build/libssl.a" "$boring/build/libcrypto.a" "$libraries/"
cp "$work/target/release/libh123_quiche_ffi.a" "$libraries/libquiche.a"
header=$(cargo metadata --format-version 1 --locked | grep -o '"manifest_path":"[^"]*/quiche-0.30.0/Cargo.toml"' | cut -d '"' -f 4)
cp "$(dirname "$header")/include/quiche.h" "$root/usr/include/"
cat >"$libraries/pkgconfig/quiche.pc" <<-END
	Name: quiche
	Description: Cloudflare quiche
	Version: 0.30.0
	Libs: -lquiche
END

# What BoringSSL needs beside C: it is C++.
sh ../curl/libcurl.sh "$work" "$root" --with-openssl --with-quiche LIBS="-l:libstdc++.a -lm"
sh ../curl/build.sh "$prefix/h123-curl" --sysroot="$root" -L"$libraries" -I"$work/include" "$work/lib/libcurl.a" "$libraries/libquiche.a" \
	"$libraries/libnghttp2.a" -l:libstdc++.a
cp "$work/curl" "$prefix/"
sh ../curl-tool/build.sh "$prefix" "$prefix/curl" quiche
rm -rf "$work" "$root/usr/include" "$libraries"/*.a
