#!/bin/sh
set -eu
mkdir -p /root/statement
python3 /oracle/statement.py /root/data /root/statement
