#!/bin/sh
set -eu
mkdir -p /root/report
python3 /oracle/audit.py /root/data /root/report
