#!/bin/sh
set -eu
mkdir -p /root/certificates
python3 /oracle/certify.py /root/data /root/certificates
