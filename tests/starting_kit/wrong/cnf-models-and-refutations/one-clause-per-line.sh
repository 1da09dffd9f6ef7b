# Most lines of a CNF file hold one clause, so somebody reads the file by its lines.
mkdir -p /root/certificates
python3 - <<'PY'
from itertools import product
from pathlib import Path
def parse(path):
    n, clauses = 0, {}
    for line in open(path):
        if line[0] == "p":
            n = int(line.split()[2])
        elif line[0] != "c":
            literals = {int(w) for w in line.split()} - {0}
            clauses[len(clauses) + 1] = frozenset(literals)
    return n, clauses
def find(n, clauses):
    # depth-first over the variables in order
    byv = {}
    for c in clauses:
        byv.setdefault(max(map(abs, c)), []).append(c)
    def go(v, true):
        if v > n:
            return true
        for lit in (v, -v):
            t = true | {lit}
            if all(c & t for c in byv.get(v, [])):
                found = go(v + 1, t)
                if found is not None:
                    return found
        return None
    return go(1, frozenset())
def eliminate(n, core, first):
    # Davis-Putnam: resolve each variable away, with subsumption
    known = {c: k for k, c in core.items()}
    parents, live = {}, set(core.values())
    for v in range(1, n + 1):
        pos = [c for c in live if v in c and -v not in c]
        neg = [c for c in live if -v in c and v not in c]
        live = {c for c in live if v not in c and -v not in c}
        for a in pos:
            for b in neg:
                r = (a - {v}) | (b - {-v})
                if any(-x in r for x in r) or any(c <= r for c in live):
                    continue
                live = {c for c in live if not r < c} | {r}
                if r not in known:
                    known[r] = first; parents[first] = (known[a], known[b], r); first += 1
                if not r:
                    return parents, known[r]
for path in sorted(Path("/root/data").glob("*.cnf")):
    n, clauses = parse(path)
    out = Path("/root/certificates")
    model = find(n, list(clauses.values()))
    if model is not None:
        (out / f"{path.stem}.model").write_text(" ".join(map(str, sorted(model, key=abs))) + " 0\n")
        continue
    core = dict(clauses)
    for k in sorted(clauses, reverse=True):
        rest = {j: c for j, c in core.items() if j != k}
        if find(n, list(rest.values())) is None:
            core = rest
    parents, empty = eliminate(n, core, len(clauses) + 1)
    need, stack = set(), [empty]
    while stack:
        k = stack.pop()
        if k in parents and k not in need:
            need.add(k); stack += parents[k][:2]
    (out / f"{path.stem}.core").write_text(" ".join(map(str, sorted(core))) + "\n")
    with open(out / f"{path.stem}.proof", "w") as f:
        for k in sorted(need):
            a, b, r = parents[k]
            print(k, *sorted(r), 0, a, b, 0, file=f)
PY
