#!/bin/sh
set -eu
sh ../debian/fetch bookworm "$1" 'nghttp2-client=1.52.0-*'
cc -std=gnu11 -O2 -Wall -Wextra -I../c -o "$1/h123-h2load" main.c ../c/*.c
