#!/bin/sh
set -eu
mkdir -p /root/report
python3 /oracle/report.py /root/data /root/report/pumps.json
