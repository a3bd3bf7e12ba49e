#!/bin/sh
# Compiles the adapter into the folder $1.
set -eu
cd "$(dirname "$0")"
exec cc -std=gnu11 -O2 -Wall -Wextra -I../c -o "$1/h123-h2load" main.c ../c/*.c
