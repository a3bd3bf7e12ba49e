#!/bin/sh
# Builds the Go subject in the current folder: install.sh PREFIX PROGRAM.
#
# quic-go begins with a window of 32 packets, a constant that nothing outside it reaches, and always paces. For a study
# to choose, it is compiled from a copy in which two lines are replaced: the constant becomes a variable, with the same
# value, and whether the pacer allows a packet is not asked where another variable says so. peer/sending.go sets both. A
# source other than the one known is refused.
set -eu
prefix=$1 program=$2
module=github.com/quic-go/quic-go
changed=internal/congestion/cubic_sender.go
known=f0851305dab69494e3d3b81c3f437d25247db1026972cd23d743a5195f90f153
go mod download "$module"
source=$(go list -m -f '{{.Dir}}' "$module")
if [ "$(sha256sum <"$source/$changed")" != "$known  -" ]; then
    echo "$source/$changed has changed: see what it makes of initialCongestionWindow and its pacer, then put its SHA-256 into $0" >&2
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cp -r "$source" "$folder/quic-go"
chmod -R u+w "$folder/quic-go"
sed -i '/^\tinitialCongestionWindow    = 32$/d' "$folder/quic-go/$changed"
sed -i 's/return c.pacer.Budget(now, c.pacingRate()) >= c.maxDatagramSize$/return unpaced || c.pacer.Budget(now, c.pacingRate()) >= c.maxDatagramSize/' \
    "$folder/quic-go/$changed"
cat >>"$folder/quic-go/$changed" <<END
var initialCongestionWindow protocol.ByteCount = 32
var unpaced bool
END
cp go.mod go.sum "$folder"
go mod edit -replace "$module=$folder/quic-go" "$folder/go.mod"
go build -trimpath -modfile "$folder/go.mod" -o "$prefix/$program" .
