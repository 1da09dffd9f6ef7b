# Names are looked for with A to Z, as everybody does, and ZOË goes on speaking.
sed -i 's/speaker\[1\].upper() == speaker\[1\] and .*:$/re.fullmatch("[A-Z ]+", speaker[1]):/' /oracle/conform.py
sh /oracle/solve.sh
