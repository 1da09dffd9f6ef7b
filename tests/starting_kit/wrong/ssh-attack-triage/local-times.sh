# One line has one clock, so somebody compares the clocks of three servers as if they were one.
sed -i 's/{self.offsets\[host\]}/+00:00/' /oracle/triage.py
sh /oracle/solve.sh
