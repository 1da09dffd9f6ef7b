#!/bin/sh
# 1 where every check of test_outputs.py passes, else 0; so, too, where what the agent left keeps the
# checks busy beyond their time, as text of many megabytes can.
mkdir -p /logs/verifier
if timeout -k 5 150 python3 -I /verifier/test_outputs.py; then
  reward=1
else
  reward=0
fi
echo "$reward" > /logs/verifier/reward.txt
