# More readings look like a better slope, so somebody uses the whole course, not the window.
sed -i 's/ if start <= float(row\["time_s"\]) <= end\]/]/' /oracle/kinetics.py
sh /oracle/solve.sh
