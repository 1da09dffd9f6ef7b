# To be on the safe side somebody blocks each attacker by itself.
sed -i 's/blocks = {.*}$/blocks = {ip_network(one) for one in found}/' /oracle/triage.py
sh /oracle/solve.sh
