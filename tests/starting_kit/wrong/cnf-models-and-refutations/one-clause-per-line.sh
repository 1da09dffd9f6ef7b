# Most lines of a CNF file hold one clause, so somebody reads the file by its lines.
sed -i 's/words += line.split()/words += [*(word for word in line.split() if word != "0"), "0"]/' /oracle/certify.py
sh /oracle/solve.sh
