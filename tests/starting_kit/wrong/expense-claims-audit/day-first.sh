# Most receipts put the day first, so somebody reads the American ones so where that is a date.
python3 - <<'PY'
from pathlib import Path
path = Path("/oracle/audit.py")
text = path.read_text()
text = text.replace(
    "datetime.strptime(day, DATES[currency]).date()",
    "datetime.strptime(day, '%d/%m/%Y' if '/' in day and int(day[3:5]) < 13 else DATES[currency]).date()",
)
path.write_text(text)
PY
sh /oracle/solve.sh
