# The subtitler chose the ends, so somebody cuts what overlaps and lengthens nothing.
sed -i 's/max(style\["min_duration_ms"\], reading)/style["min_duration_ms"]/' /oracle/conform.py
sh /oracle/solve.sh
