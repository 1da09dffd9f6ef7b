# "Honoured once" sounds like "claimed once", so somebody lets a late claim use its receipt up.
sed -i 's/if claim.refused or number not in self.receipts:/if number not in self.receipts:/; s/if number in honoured:/if number in honoured and not claim.refused:/' /oracle/audit.py
sh /oracle/solve.sh
