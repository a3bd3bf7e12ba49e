#!/bin/sh
# Builds the Go subject in the current folder: install.sh PREFIX PROGRAM.
#
# quic-go begins with a window of 32 packets, a constant that nothing outside it reaches. For a study to choose it, it is
# compiled from a copy in which one line is replaced: the constant becomes a variable, with the same value, that
# peer/window.go sets. A source other than the one known is refused.
set -eu
prefix=$1 program=$2
module=github.com/quic-go/quic-go
changed=internal/congestion/cubic_sender.go
known=f0851305dab69494e3d3b81c3f437d25247db1026972cd23d743a5195f90f153
go mod download "$module"
source=$(go list -m -f '{{.Dir}}' "$module")
if [ "$(sha256sum <"$source/$changed")" != "$known  -" ]; then
    echo "$source/$changed has changed: see what it makes of initialCongestionWindow, then put its SHA-256 into $0" >&2
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cp -r "$source" "$folder/quic-go"
chmod -R u+w "$folder/quic-go"
sed -i '/^\tinitialCongestionWindow    = 32$/d' "$folder/quic-go/$changed"
echo 'var initialCongestionWindow protocol.ByteCount = 32' >>"$folder/quic-go/$changed"
cp go.mod go.sum "$folder"
go mod edit -replace "$module=$folder/quic-go" "$folder/go.mod"
go build -trimpath -modfile "$folder/go.mod" -o "$prefix/$program" .
