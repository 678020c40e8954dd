"""What a person typed is data: this is the one place that cleans it and makes it safe to draw.

It goes into Plotly through `plotly`, into selectboxes through `visible`, and onto pages through st.text and st.code,
which show it as it is. It never goes into Markdown.
"""

import functools
import html
import re
import unicodedata
from typing import NamedTuple

MAX_TOKENS = 40
LABEL_LENGTH = 14
HOVER_LENGTH = 120

_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])  # marks that override the reading direction
_NUMBER = re.compile(r"[+-]?([0-9]{1,12}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,2})?")
_KEPT_CONTROLS = {"\t", "\n", "\r"}
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"  # stand inside an emoji or a word
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and symbols that print nothing


class Cleaned(NamedTuple):
    """A text that can be worked with, and one sentence for each thing that was done to it."""

    text: str
    notes: tuple[str, ...]


def clean(raw):
    """Compose accents (NFC); drop control characters, direction overrides and half characters, and say so.

    >>> clean("a\\x00b").text
    'ab'
    """
    text = unicodedata.normalize("NFC", raw or "")
    kept = "".join(c for c in text if ord(c) not in _TURNING and (unicodedata.category(c) not in ("Cc", "Cs") or c in _KEPT_CONTROLS))
    dropped = len(text) - len(kept)
    if not dropped:
        return Cleaned(kept, ())
    return Cleaned(kept, (f"{dropped} invisible control character{'s were' if dropped > 1 else ' was'} left out of your text.",))


def cut(tokens, limit=MAX_TOKENS):
    """The first `limit` tokens, and a sentence if that is not all of them.

    >>> cut(["a", "b"], 1)
    (['a'], ('Your text has 2 words. The first 1 are shown, so that every cell stays readable; shorten the text to choose others.',))
    """
    if len(tokens) <= limit:
        return tokens, ()
    sentence = (f"Your text has {len(tokens):,} words. The first {limit} are shown, so that every cell stays readable; "
                "shorten the text to choose others.")
    return tokens[:limit], (sentence,)


@functools.lru_cache(4096)
def visible(token):
    """A token with nothing hidden in it: spaces as ␣, line breaks as ⏎, invisible characters by their code point.

    >>> visible("a b"), visible("\\u200b")
    ('a␣b', '‹U+200B›')
    """
    joined = any(c not in _JOINERS and not _hides(c) for c in token)  # a joiner alone would be invisible
    return "".join(_shown(c, joined) for c in token)


def _hides(character):
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs") or character in _BLANKS


def _shown(character, joined):
    if character == " ":
        return "␣"
    if character in "\n\r":
        return "⏎"
    if character == "\t":
        return "⇥"
    if (character in _JOINERS and not joined) or (character not in _JOINERS and _hides(character)):
        return f"‹U+{ord(character):04X}›"
    return character


@functools.lru_cache(4096)
def short(token, length=LABEL_LENGTH):
    """A visible token of at most `length` characters, the rest as …

    >>> short("incomprehensibilities")
    'incomprehensi…'
    """
    shown = visible(token)
    return shown if len(shown) <= length else shown[: length - 1] + "…"


def quoted(token):
    """A visible token in quotation marks, for plain text.

    >>> quoted("the")
    '"the"'
    """
    return f'"{short(token, 40)}"'


@functools.lru_cache(4096)
def plotly(token, length=LABEL_LENGTH):
    """A token as Plotly text: shortened and escaped, so that <b> stays <b>.

    >>> plotly("<b>")
    '&lt;b&gt;'
    """
    return html.escape(short(token, length), quote=False)


def options(tokens):
    """Labels for a selectbox: numbered from 0 as in the arrays, so that equal words stay apart.

    >>> options(["the", "the"])
    ['0 · the', '1 · the']
    """
    return [f"{i} · {short(token, 40)}" for i, token in enumerate(tokens)]


def matrix_text(array):
    """A matrix as text, rows separated by "; ".

    >>> matrix_text([[1.0, 0.5], [0.0, -2.0]])
    '1 0.5; 0 -2'
    """
    return "; ".join(" ".join(f"{value:.12g}" for value in row) for row in array)


def parse_numbers(raw, least, most, limit=1e6):
    """The numbers in `raw`, or a sentence that says what to change.

    returns  (list, None) or (None, sentence)

    >>> parse_numbers("2 1 0.5", 2, 8)
    ([2.0, 1.0, 0.5], None)
    >>> parse_numbers("1,5 2", 2, 8)[1]
    'it takes 2 to 8 numbers with spaces between them; entry 1 is not one (write decimals with a point).'
    """
    entries = raw.split()
    takes = f"it takes {least} to {most} numbers with spaces between them"
    for place, entry in enumerate(entries[: most + 1], 1):
        if not _NUMBER.fullmatch(entry):
            return None, f"{takes}; entry {place} is not one (write decimals with a point)."
        if abs(float(entry)) > limit:
            return None, f"{takes}; entry {place} is beyond ±{limit:,.0f}."
    if not least <= len(entries) <= most:
        return None, f"{takes}; it has {len(entries):,}."
    return [float(entry) for entry in entries], None


def parse_matrix(raw, n_rows, n_columns, limit=1e6):
    """The matrix in `raw`, or a sentence that says what to change.

    returns  (list of rows, None) or (None, sentence)

    >>> parse_matrix("1 2; 3 4", 2, 2)
    ([[1.0, 2.0], [3.0, 4.0]], None)
    >>> parse_matrix("1 2; 3", 2, 2)[1]
    'row 2 has 1 number; it needs 2.'
    """
    rows = [row for row in re.split(r"[;\n]", raw) if row.strip()]
    if len(rows) != n_rows:
        for place, entry in enumerate(re.split(r"[;,\s]+", raw.strip())[:20], 1):
            if entry and not _NUMBER.fullmatch(entry):
                return None, f"entry {place} is not a number (write decimals with a point)."
        return None, f"it has {len(rows)} row{'s' * (len(rows) != 1)}; it needs {n_rows}, separated by semicolons."
    parsed = []
    for number, row in enumerate(rows, 1):
        entries = row.replace(",", " ").split()
        if len(entries) != n_columns:
            return None, f"row {number} has {len(entries)} number{'s' * (len(entries) != 1)}; it needs {n_columns}."
        values = []
        for place, entry in enumerate(entries, 1):
            if not _NUMBER.fullmatch(entry) or abs(float(entry)) > limit:
                return None, f"entry {place} of row {number} is not a number between -{limit:,.0f} and {limit:,.0f}."
            values.append(float(entry))
        parsed.append(values)
    return parsed, None


def narrow(markdown, most=3):
    """Markdown for a narrow window: a table of more than `most` columns becomes a list, an entry a row.

    >>> print(narrow("| a | b | c | d |\\n|:--|--:|--:|--:|\\n| x | 1 | 2 | |"))
    - **x**: b 1 · c 2
    """
    lines, head = [], None
    for line in markdown.split("\n"):
        cells = [cell.strip() for cell in line.strip()[1:-1].split("|")] if line.strip().startswith("|") else []
        if len(cells) <= most:
            head = None
            lines.append(line)
        elif head is None:
            head = cells
        elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            rest = " · ".join(f"{name} {cell}".strip() for name, cell in zip(head[1:], cells[1:], strict=False) if cell)
            lines.append(f"- **{cells[0].replace('**', '')}**: {rest}" if cells[0] else f"- {rest}")
    return "\n".join(lines)
