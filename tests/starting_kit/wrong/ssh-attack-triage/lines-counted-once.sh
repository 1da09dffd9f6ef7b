# Lines are easy to count, so somebody counts a message that was repeated once.
sed -i 's/(int(repeated\[1\]), repeated\[2\])/(1, repeated[2])/' /oracle/triage.py
sh /oracle/solve.sh
