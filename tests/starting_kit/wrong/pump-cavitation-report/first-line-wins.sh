# A repeated line looks like a duplicate, so somebody keeps the first and drops the correction.
sed -i 's/latest\[pump, when\] = \(Sample(.*)\)$/latest.setdefault((pump, when), \1)/' /oracle/report.py
sh /oracle/solve.sh
