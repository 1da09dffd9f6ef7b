# The water's temperature hardly moves within a minute, so somebody takes the shift's mean.
sed -i 's|^    current: list\[Low\] = \[\]|    known = [s.temp_c for s in samples if s.temp_c is not None]\n&|; s|margin_m(sample, pump, station)$|margin_m(sample._replace(temp_c=sample.temp_c and sum(known) / len(known)), pump, station)|' /oracle/report.py
sh /oracle/solve.sh
