#!/bin/sh
# Builds the Go subject in the current folder: install.sh PREFIX PROGRAM.
#
# quic-go begins with a window of 32 packets, a constant that nothing outside it reaches, and always paces. For a study
# to choose, two lines of it are replaced: the constant becomes a variable, with the same value, and the pacer is not
# asked whether it allows a packet where another variable says so. peer/sending.go sets both. A source other than the
# known one is refused.
#
# The build takes quic-go from a folder ./quic-go that is in Go's overlay alone, not on the disk. So the program contains
# no path of this machine, and two builds are equal to the byte.
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
sed -e '/^\tinitialCongestionWindow    = 32$/d' \
    -e 's/return c.pacer.Budget(now, c.pacingRate()) >= c.maxDatagramSize$/return unpaced || c.pacer.Budget(now, c.pacingRate()) >= c.maxDatagramSize/' \
    "$source/$changed" >"$folder/sender.go"
cat >>"$folder/sender.go" <<END
var initialCongestionWindow protocol.ByteCount = 32
var unpaced bool
END
files=$(cd "$source" && find . -name '*.go' -o -name go.mod | sort)
{
    echo '{"Replace": {'
    for file in $files; do
        [ "$file" = "./$changed" ] || printf '"quic-go/%s": "%s",\n' "${file#./}" "$source/$file"
    done
    printf '"quic-go/%s": "%s"}}\n' "$changed" "$folder/sender.go"
} >"$folder/overlay.json"
cp go.mod go.sum "$folder"
go mod edit -replace "$module=./quic-go" "$folder/go.mod"
go build -trimpath -modfile "$folder/go.mod" -overlay "$folder/overlay.json" -o "$prefix/$program" .
