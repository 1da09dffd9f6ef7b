# The double reciprocal plot is in every textbook, so somebody fits a straight line to 1/v.
sed -i 's|vmax, km = fit_hyperbola(points)|slope, intercept, _ = fit_line([1 / s for s, _ in points], [1 / v for _, v in points]); vmax, km = 1 / intercept, slope / intercept|' /oracle/kinetics.py
sh /oracle/solve.sh
