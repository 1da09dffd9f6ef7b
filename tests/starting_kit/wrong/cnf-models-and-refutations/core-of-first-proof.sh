# What the first refutation happens to use is a core already, so somebody leaves it at that.
sed -i 's/core = minimal_core(clauses, first_id)/core = {n: clauses[n] for step in search.proof(search.run()) for n in search.parents[step] if n in clauses}/' /oracle/certify.py
sh /oracle/solve.sh
