#!/bin/sh
set -eu
sh ../debian/fetch bookworm "$1" 'wrk=4.1.0-*'
cp script.lua tls.cnf "$1"
cc -std=gnu11 -O2 -Wall -Wextra -I../c -o "$1/h123-wrk" main.c ../c/*.c
