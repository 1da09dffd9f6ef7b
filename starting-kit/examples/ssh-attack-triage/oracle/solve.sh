#!/bin/sh
set -eu
mkdir -p /root/out
python3 /oracle/triage.py /root/data /root/out
