#!/bin/sh
# 1 where every check of test_outputs.py passes, else 0.
mkdir -p /logs/verifier
if python3 -I /verifier/test_outputs.py; then
  reward=1
else
  reward=0
fi
echo "$reward" > /logs/verifier/reward.txt
