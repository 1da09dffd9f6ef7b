# Banks settle on the next working day, so somebody takes the next published rate for a weekend.
sed -i 's/day -= ONE_DAY/day += ONE_DAY/' /oracle/statement.py
sh /oracle/solve.sh
