#!/bin/sh
# build.sh PROGRAM FLAG...: compiles the client into PROGRAM, with the compiler's flags that find libcurl (8.11 or newer, on
# OpenSSL or a relative of it) and what it needs.
set -eu
program=$1
shift
cd "$(dirname "$0")"
exec cc -std=gnu11 -O2 -Wall -Wextra -I../c -o "$program" ./*.c ../c/*.c "$@" -lm
