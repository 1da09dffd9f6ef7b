# The newest lots often have the smallest gain, so somebody sells those first.
sed -i 's/lot = queue\[0\]/lot = queue[-1]/; s/queue\.popleft()/queue.pop()/' /oracle/statement.py
sh /oracle/solve.sh
