#!/bin/sh
set -eu
mkdir -p /root/out
python3 /oracle/conform.py /root/data /root/out
