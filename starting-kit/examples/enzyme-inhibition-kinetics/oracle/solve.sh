#!/bin/sh
set -eu
mkdir -p /root/results
python3 /oracle/kinetics.py /root/data /root/results
