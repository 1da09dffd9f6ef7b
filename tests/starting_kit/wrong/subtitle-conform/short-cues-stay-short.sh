# The subtitler chose the ends, so somebody cuts what overlaps and lengthens nothing.
mkdir -p /root/out
python3 - <<'PY'
import json, re, textwrap
D = "/root/data/"
S = json.load(open(D + "style.json"))
A = json.load(open(D + "anchors.json"))
def ms(s):
    h, m, rest = s.strip().replace(".", ",").split(":")
    sec, milli = rest.split(",")
    return int(h) * 3600000 + int(m) * 60000 + int(sec) * 1000 + int(milli)
def clock(t):
    return "%02d:%02d:%02d,%03d" % (t // 3600000, t // 60000 % 60, t // 1000 % 60, t % 1000)
visible = lambda s: re.sub("<[^>]*>", "", s)
cues, cue = [], None
for line in open(D + "episode.srt", encoding="utf-8-sig"):
    line = line.strip()
    if "-->" in line:
        a, b = line.split("-->")
        cue = {"n": int(number), "a": ms(a), "b": ms(b), "lines": []}
        cues.append(cue)
    elif line.isdigit():
        number, cue = line, None
    elif line and cue:
        cue["lines"].append(line)
kept, dropped, seen = [], [], []
for c in cues:
    key = (c["a"], c["b"], c["lines"])
    talk = all(l.startswith("- ") for l in c["lines"])
    if talk:
        text = "\n".join(c["lines"])
    else:
        text = " ".join(c["lines"])
        text = re.sub(r"\[[^]]*\]", "", text).strip()
        words = text.split(": ", 1)
        if len(words) == 2 and not any(ch.islower() for ch in words[0]):
            text = words[1]
        text = re.sub(" +", " ", text).strip().replace("<i> ", "<i>").replace(" </i>", "</i>")
    if key in seen or not visible(text):
        dropped.append(c["n"])
    else:
        c["text"], c["talk"] = text, talk
        kept.append(c)
    seen.append(key)
start = {c["n"]: c["a"] for c in cues}
(p, q), (r, s) = [(start[a["cue"]], ms(a["start"])) for a in A]
rate = (s - q) / (r - p)
off = q - rate * p
kept.sort(key=lambda c: c["a"])
for c in kept:
    c["a"], c["b"] = int(rate * c["a"] + off + 0.5), int(rate * c["b"] + off + 0.5)
out = []
for i, c in enumerate(kept):
    n = len(visible(c["text"]))
    end = max(c["b"], c["a"] + S["min_duration_ms"])
    end = min(end, c["a"] + S["max_duration_ms"])
    if i + 1 < len(kept):
        end = min(end, kept[i + 1]["a"] - S["min_gap_ms"])
    text = c["text"]
    if not c["talk"] and n > S["max_chars_per_line"]:
        italic = text.startswith("<i>")
        text = "\n".join(textwrap.wrap(visible(text), S["max_chars_per_line"]))
        if italic:
            text = f"<i>{text}</i>"
    out.append(f"{i + 1}\n{clock(c['a'])} --> {clock(end)}\n{text}\n")
open("/root/out/episode.srt", "w", encoding="utf-8").write("\n".join(out))
json.dump({"cues": len(out), "dropped": sorted(dropped), "rate": rate, "offset_ms": off}, open("/root/out/report.json", "w"))
PY
