#!/bin/sh
set -eu
# It must score 1.0, and do so by computing: another input gives another answer.
echo "REPLACE-ME: solve the task as a good agent would" >&2
exit 1
