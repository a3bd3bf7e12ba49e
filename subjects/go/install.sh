#!/bin/sh
# Builds the Go subject in the current folder: install.sh PREFIX PROGRAM.
#
# quic-go begins with a window of 32 packets, a constant that nothing outside it reaches. For a study to choose it, one
# line is replaced while quic-go is compiled (go build -overlay): the constant becomes a variable, with the same value,
# that peer/window.go sets. The source itself stays as it is, and another one than the one known is refused.
set -eu
prefix=$1 program=$2
known=f0851305dab69494e3d3b81c3f437d25247db1026972cd23d743a5195f90f153
go mod download github.com/quic-go/quic-go
source=$(go list -m -f '{{.Dir}}' github.com/quic-go/quic-go)/internal/congestion/cubic_sender.go
if [ "$(sha256sum <"$source")" != "$known  -" ]; then
    echo "$source has changed: see what it makes of initialCongestionWindow, then put its SHA-256 into $0" >&2
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
sed '/^\tinitialCongestionWindow    = 32$/d' "$source" >"$folder/cubic_sender.go"
echo 'var initialCongestionWindow protocol.ByteCount = 32' >>"$folder/cubic_sender.go"
printf '{"Replace": {"%s": "%s"}}\n' "$source" "$folder/cubic_sender.go" >"$folder/overlay.json"
go build -trimpath -overlay "$folder/overlay.json" -o "$prefix/$program" .
