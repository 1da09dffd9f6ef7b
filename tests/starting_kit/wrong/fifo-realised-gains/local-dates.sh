# The date stands in front of every time, so somebody reads it there and forgets the offset.
sed -i 's/\.astimezone(UTC)/.replace(tzinfo=UTC)/' /oracle/statement.py
sh /oracle/solve.sh
