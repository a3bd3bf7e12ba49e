#!/bin/sh
# Installs into the folder PREFIX, and decides who runs it: the machine's Node if that knows node:quic, else Bun. install.sh PREFIX
set -eu
prefix=$1
sh ../node/peer/install.sh "$prefix" main.mjs serve.mjs connect.mjs
if node --experimental-quic --no-warnings --input-type=module --eval 'import "node:quic"' 2>/dev/null; then
    runner='node --experimental-quic --no-warnings'
else
    runner='"$(dirname "$0")/node_modules/@oven/bun-linux-x64/bin/bun" --no-warnings'
fi
printf '#!/bin/sh\nexec %s "$@"\n' "$runner" >"$prefix/javascript"
chmod +x "$prefix/javascript"
