#!/bin/sh
# Installs what a subject needs from PyPI: a Python environment of the subject's own, in PREFIX/python, with the packages of
# the requirements.txt in the working folder, every one by its hash. The files named after PREFIX are copied into it.
# Usage: sh ../pypi/install.sh PREFIX [FILE...]
set -eu
prefix=$1
shift
python3 -m venv "$prefix/python"
python=$prefix/python/bin/python
"$python" -m pip install --disable-pip-version-check --no-cache-dir --progress-bar off \
    --only-binary :all: --require-hashes --requirement requirements.txt
"$python" -m pip uninstall --yes setuptools pip # no part of the subject
for file; do
    cp "$file" "$prefix/"
done
