#!/bin/sh
# Installs aiopquic's wheels, every one by its hash, with the Python of Debian 13 that they need. Usage: sh install.sh PREFIX
set -eu
prefix=$1
# pip comes without what Debian would install with it: compilers.
sh ../debian/fetch trixie "$prefix/debian" 'python3.13=3.13.*' -- 'python3-pip=25.*'
export PYTHONPATH="$prefix/debian/root/usr/lib/python3/dist-packages" # of pip
"$prefix/debian/run" usr/bin/python3.13 -m pip install --disable-pip-version-check --no-cache-dir --progress-bar off \
    --only-binary :all: --require-hashes --requirement requirements.txt --target "$prefix/packages"
cp serve.py ../python/contract.py ../python/exchange.py ../python/tuning.py "$prefix/"
