"""What a copyist does to a prompt: each a function of the prompt and a source of chance.

What stands in backticks or in a fence is kept to the letter, but for its marks: a path or a format
that changes makes another task.
"""

from __future__ import annotations

import random
import re
import textwrap
from functools import cache
from pathlib import Path

_KEPT = re.compile(r"```.*?```|`[^`\n]*`|/root[\w/.-]*\w", re.S)
_ENDS = re.compile(r"(?<=[.?!])\s+(?=[A-Z`\ue000])")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) ")

LOOKALIKES = {
    **dict(zip("aceopxyijs", "асеорхуіјѕ", strict=True)),
    **dict(zip("ABEKMHOPCTX", "АВЕКМНОРСТХ", strict=True)),
    "v": "ν",
    "-": "\u2010",
    "'": "\u2019",
    '"': "\u201d",
    ",": "\u201a",
}

_PREAMBLES = [
    "You are a careful engineer with a terminal on a small Linux machine.",
    "Read everything below before you begin, and think about the edge cases.",
    "A colleague who is on leave started this and left no notes.",
    "The result is needed for a meeting tomorrow morning, so please finish it today.",
    "You may use any tool that the machine offers, and you need no network for it.",
    "Work in the home folder; nobody else is logged in.",
    "Don't ask back: everything that you need to know is written here.",
    "This ticket was raised by the operations desk and has been given to you.",
    "Please keep a short log of your steps for yourself; it won't be judged.",
    "Treat the input as precious and leave it as you found it.",
]
_CLOSINGS = [
    "Once you are done, look at the result again and compare it with what was asked.",
    "Nothing else needs to be delivered, and no explanation is expected.",
    "Only the final state of the files counts.",
    "If something goes wrong half way, begin again from the input.",
    "Thank you for your help with this.",
]

_PHRASES = {
    r"[Ww]rite ([^.;:]{3,60}) to (\S+)": r"put \1 into \2",
    r"[Ww]rite": "save|store|produce",
    r"[Pp]ut": "place|store|save",
    r"[Gg]ive": "supply|state",
    r"[Ff]or (each|every)": "for all of the|taking one at a time every",
    r"(each|every) line": "a single row|any one row",
    r"lines?": "row|entry",
    r"one a line": "each in its own row",
    r"sorted": "in ascending order|put in order",
    r"in order": "in the sequence given|keeping the sequence",
    r"largest first": "in descending order of size|from big to small",
    r"ties": "where equal|for equals",
    r"(whose|of which the)": "with a|having its",
    r"where": "in case|whenever",
    r"which": "that",
    r"(lists|has|holds|says|keeps|carries)": "contains|consists of|records",
    r"becomes?": "turns into|is changed to",
    r"wants? to know": "would like to find out",
    r"only": "nothing but|solely",
    r"at least": "no fewer than|not less than",
    r"at most": "no more than",
    r"more than": "above|in excess of",
    r"nothing": "not a thing|none",
    r"missing": "absent|not to be found",
    r"empty": "blank|without content",
    r"first": "initial|leading",
    r"last": "final|latest",
    r"number": "count|figure",
    r"numbers": "figures|counts",
    r"whole": "entire|integral",
    r"goes to": "ends up in|belongs in",
    r"report": "state|note down",
    r"compute": "work out|determine|calculate",
    r"find": "determine|look for",
    r"list": "enumerate|collection",
    r"object": "mapping|dictionary",
    r"text": "string",
    r"name": "label|identifier",
    r"names": "labels|identifiers",
    r"called": "named",
    r"same": "identical|very same",
    r"several": "many|some",
    r"different": "distinct|differing",
    r"kept": "retained|preserved",
    r"keep": "retain|preserve",
    r"drop(s|ped)?": "leave out|discard",
    r"after": "following|later than",
    r"before": "ahead of|earlier than",
    r"below": "beneath|under",
    r"above": "over|higher than",
    r"(our|the) (users|people|crew|editor)": "those concerned|the persons involved",
    r"we are": "our team is",
    r"[Nn]ow": "at present",
    r"must": "has to|is required to",
    r"should": "is supposed to|ought to",
    r"may": "can|is free to",
    r"is needed": "is wanted",
    r"rounded": "cut|adjusted",
    r"answer": "result|reply",
    r"and": "as well as|plus|and also",
    r"but": "yet|though",
    r"if": "provided that|in case",
    r"so that": "such that",
    r"all": "the entirety of|every one of the",
    r"any": "some",
    r"then": "after that|next",
    r"with": "having|together with",
    r"by": "according to|going by",
    r"exactly": "precisely",
    r"folder": "directory",
    r"file": "document",
    r"files": "documents",
}


def mask(prompt: str) -> tuple[str, list[str]]:
    """The prompt with a mark for all that must be kept, and what was there."""
    kept: list[str] = []

    def hide(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\ue000{len(kept) - 1}\ue001"

    return _KEPT.sub(hide, prompt), kept


def unmask(text: str, kept: list[str]) -> str:
    return re.sub("\ue000(\\d+)\ue001", lambda found: kept[int(found[1])], text)


def blocks(masked: str) -> list[list[str]]:
    """Paragraphs of sentences; each item of a list is a paragraph of one."""
    result = []
    for paragraph in re.split(r"\n\s*\n", masked.strip()):
        items = re.split(r"\n(?=\s*(?:[-*]|\d+\.) )", paragraph)
        for item in items:
            flat = " ".join(item.split())
            result.append([flat] if _ITEM.match(item) else _ENDS.split(flat))
    return result


def joined(of_blocks: list[list[str]]) -> str:
    texts = [" ".join(sentences) for sentences in of_blocks]
    return "\n\n".join(textwrap.fill(text, 100, break_long_words=False) for text in texts) + "\n"


def reformatted(prompt: str, chance: random.Random) -> str:
    """Other line ends, letter case, blanks and punctuation."""
    masked, kept = mask(prompt)
    case = chance.choice([str.lower, str.upper, str])
    masked = case(masked)
    for old, new in ((";", "."), (",", ""), (":", " -"), (". ", " .  "), ("(", "[ "), (")", " ]")):
        if chance.random() < 0.6:
            masked = masked.replace(old, new)
    width = chance.choice([50, 64, 79, 120])
    texts = [" ".join(sentences) for sentences in blocks(masked)]
    gap = chance.choice(["\n\n", "\n\n\n"])
    lines = [textwrap.fill(text, width, break_long_words=False) for text in texts]
    return unmask(gap.join(lines), kept) + "\n"


def lookalikes(prompt: str, chance: random.Random) -> str:
    """Letters of other alphabets that look the same, and signs that don't show."""
    masked, kept = mask(prompt)
    share = chance.uniform(0.3, 0.9)
    starts = {found.end() for found in re.finditer(r"(?m)^\s*[-*#]+", masked)}
    letters = []
    for place, letter in enumerate(masked, 1):
        odd = chance.random() < share and place not in starts
        letters.append(LOOKALIKES.get(letter, letter) if odd else letter)
        if letter.isalpha() and chance.random() < 0.03:
            letters.append(chance.choice("\u200b\u00ad\u200d"))
    return unmask("".join(letters), kept)


def reordered(prompt: str, chance: random.Random) -> str:
    """Sentences and paragraphs in another order, the opening one apart."""
    masked, kept = mask(prompt)
    found = blocks(masked)
    opening = found[0].pop(0)
    for sentences in found:
        chance.shuffle(sentences)
    chance.shuffle(found)
    return unmask(joined([[opening], *(sentences for sentences in found if sentences)]), kept)


def with_preamble(prompt: str, chance: random.Random) -> str:
    before = " ".join(chance.sample(_PREAMBLES, chance.randint(2, 6)))
    after = " ".join(chance.sample(_CLOSINGS, chance.randint(0, 3)))
    return "\n\n".join(part for part in (before, prompt.strip(), after) if part) + "\n"


def half_replaced(prompt: str, chance: random.Random, others: list[str]) -> str:
    """Half of the sentences, by count, are others': `others` are prompts to take them from.

    Sentences without a path go first: a task whose paths nobody is told can't be solved.
    """
    masked, kept = mask(prompt)
    found = blocks(masked)
    foreign = [one for text in others for part in blocks(_plain_paths(text)) for one in part]
    pool = [*foreign, *_PREAMBLES, *_CLOSINGS]
    places = [(b, s) for b, sentences in enumerate(found) for s in range(len(sentences))]
    chance.shuffle(places)
    places.sort(key=lambda place: "/" in unmask(found[place[0]][place[1]], kept))
    for b, s in places[: (len(places) + 1) // 2]:
        found[b][s] = chance.choice(pool)
    return unmask(joined(found), kept)


def _plain_paths(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.S)


def plain(prompt: str, chance: random.Random) -> str:
    """Markdown to plain text: no backticks, fences, list marks or stress."""
    text = re.sub(r"```\w*\n(.*?)```", lambda m: textwrap.indent(m[1], "    "), prompt, flags=re.S)
    text = re.sub(r"(?m)^#+ +", "", text.replace("`", chance.choice(["", "", "'"])))
    text = re.sub(r"(?m)^(\s*)(?:[-*]|\d+\.) ", r"\1", text)
    return re.sub(r"\*\*([^*\n]+)\*\*", r"\1", text)


def restructured(prompt: str, chance: random.Random) -> str:
    """Prose becomes a list, a list becomes prose."""
    masked, kept = mask(prompt)
    if re.search(r"(?m)^\s*[-*] ", masked):
        text = " ".join(_ITEM.sub("", part) for sentences in blocks(masked) for part in sentences)
        return unmask(textwrap.fill(text, 100, break_long_words=False), kept) + "\n"
    sentences = [one for part in blocks(masked) for one in part]
    heading = chance.choice(["**The job**", "**What to do**", "**Requirements**"])
    if chance.random() < 0.5:
        lines = [f"{number}. {one}" for number, one in enumerate(sentences, 1)]
    else:
        pieces = [piece for one in sentences for piece in re.split(r"(?<=[;:]) ", one)]
        lines = [f"- {piece[0].upper()}{piece[1:]}" for piece in pieces]
    return unmask("\n".join([heading, "", *lines]), kept) + "\n"


def rephrased(prompt: str, chance: random.Random) -> str:
    """Four in five of the phrases that have a synonym get one, whatever it does to the style."""
    masked, kept = mask(prompt)
    for pattern, choices in _PHRASES.items():

        def other(found: re.Match[str], choices: str = choices) -> str:
            if chance.random() > 0.8:
                return found[0]
            new = found.expand(chance.choice(choices.split("|")))
            return new[0].upper() + new[1:] if found[0][0].isupper() else new

        masked = re.sub(rf"(?i)\b{pattern}\b(?![^\ue000]*\ue001)", other, masked)
    return unmask(joined(blocks(masked)), kept)


@cache
def by_hand() -> dict[str, str]:
    """Every synthetic original's prompt, told anew by a person who kept to what it asks."""
    text = (Path(__file__).parent / "rewordings.txt").read_text(encoding="utf-8")
    parts = re.split(r"^=== (\S+)\n", text, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))
