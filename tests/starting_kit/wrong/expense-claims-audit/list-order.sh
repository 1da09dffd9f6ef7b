# The list looks like the order of arrival, so somebody lets the claim that stands first have it.
sed -i 's/sorted(self.claims, key=lambda claim: claim.submitted)/self.claims/' /oracle/audit.py
sh /oracle/solve.sh
