# The address comes after "from", so somebody takes the first one, which an attacker has typed.
sed -i 's/(?:invalid user )?(\.\*) from (\\S+) port \\d+ ssh2")/(?:invalid user )?(.*?) from (\\S+) port \\d+.*")/' /oracle/triage.py
sh /oracle/solve.sh
