#!/bin/sh
set -eu
cd /root
python3 /oracle/mend.py roombook
mkdir -p out
python3 -m roombook data/journal.jsonl > out/replay.json
