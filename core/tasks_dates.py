"""Dates as people write them, and as ISO 8601 writes them: "12 March 1998" and "1998-03-12". All of them are generated."""

import re
from calendar import monthrange
from typing import NamedTuple

import numpy as np

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
FORMS = ("{day} {month} {year}", "{day} {mon} {year}", "{month} {day}, {year}", "{mon} {day}, {year}", "{day}{th} {month} {year}",
         "the {day}{th} of {month} {year}", "{month} {day}{th}, {year}", "{year} {month} {day}")
YEARS = (1000, 2999)
FILLER, START = "·", "<start>"
VOCABULARY = (FILLER, START, *"0123456789-", *"abcdefghijklmnopqrstuvwxyz", " ", ",")
N_SOURCES, N_TARGETS = len("the 12th of september 1998"), len("1998-09-12")
WRITTEN = re.compile(r"(?:the )?(?:(?P<year_1>[0-9]{4}) (?P<month_1>[a-z]+) (?P<day_1>[0-9]{1,2})"
                     r"|(?P<day_2>[0-9]{1,2})(?:st|nd|rd|th)?(?: of)? (?P<month_2>[a-z]+) (?P<year_2>[0-9]{4})"
                     r"|(?P<month_3>[a-z]+) (?P<day_3>[0-9]{1,2})(?:st|nd|rd|th)?, (?P<year_3>[0-9]{4}))")


class Batch(NamedTuple):
    """Some written dates, what the decoder reads of their ISO form, and what comes after each of its characters."""

    source_ids: np.ndarray  # (n_dates, n_sources); 0 where a text is filled up
    target_ids: np.ndarray  # (n_dates, 10): the start sign, then the ISO date without its last character
    targets: np.ndarray     # (n_dates, 10): the ISO date


class Reading(NamedTuple):
    """What a written date says, and where."""

    iso: str
    places: dict  # {"year", "month", "day": (first, after the last)} character of the text


def ordinal(day):
    """The letters after a day's number.

    >>> [ordinal(day) for day in (1, 2, 3, 11, 22)]
    ['st', 'nd', 'rd', 'th', 'nd']
    """
    return "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def written(year, month, day, form):
    """A date in one of the FORMS, in small letters.

    >>> written(1998, 3, 12, 5)
    'the 12th of march 1998'
    """
    name = MONTHS[month - 1]
    return FORMS[form].format(year=year, month=name, mon=name[:3], day=day, th=ordinal(day))


def read(text):
    """What a text of these forms says, by rule and without a model: to check a model's answer, and to know where the answer stands.

    returns  Reading, or None where the text has none of these forms or there is no such day

    >>> read("march 12, 1998")
    Reading(iso='1998-03-12', places={'year': (10, 14), 'month': (0, 5), 'day': (6, 8)})
    """
    found = WRITTEN.fullmatch(text)
    if not found:
        return None
    group = next(number for number in "123" if found[f"year_{number}"] is not None)
    places = {name: found.span(f"{name}_{group}") for name in ("year", "month", "day")}
    year, month, day = (text[slice(*place)] for place in places.values())
    number = next((n for n, name in enumerate(MONTHS, 1) if month in (name, name[:3])), None)
    if number is None or int(year) < 1 or not 1 <= int(day) <= monthrange(int(year), number)[1]:
        return None
    return Reading(f"{year}-{number:02d}-{int(day):02d}", places)


def held_out(year, month, day):
    """Is this one of the dates (every tenth, spread over all years) that training never draws, in no form?

    >>> held_out(1998, 3, 12)
    False
    """
    return ((year * 12 + month) * 31 + day) * 2654435761 % 2**32 % 10 == 0


def encode(text):
    """The ids of a text's characters.

    returns  whole numbers (n_characters,)
    raises   ValueError with a sentence for a person: no character, too many, or one that the model does not know
    """
    if not text:
        raise ValueError("There is no character to read; write a date, for instance 12 March 1998.")
    if len(text) > N_SOURCES:
        raise ValueError(f"The model reads at most {N_SOURCES} characters; this text has {len(text)}. Write the date in a shorter form.")
    unknown = [place for place, character in enumerate(text, 1) if character not in VOCABULARY[2:]]
    if unknown:
        raise ValueError("The model knows the letters from a to z, the digits, the space, the comma and the hyphen. "
                         f"The character at place {unknown[0]} (of {len(text)}) is none of them; leave it out.")
    return np.array([VOCABULARY.index(character) for character in text])


def batch(texts, isos):
    """Written dates and their ISO forms as ids, filled up to the longest.

    >>> batch(["1 may 1998"], ["1998-05-01"]).targets.shape
    (1, 10)
    """
    source_ids = np.zeros((len(texts), max(map(len, texts))), dtype=np.int64)
    for row, text in enumerate(texts):
        source_ids[row, :len(text)] = encode(text)
    targets = np.array([encode(iso) for iso in isos])
    start = np.full((len(isos), 1), VOCABULARY.index(START))
    return Batch(source_ids, np.concatenate([start, targets[:, :-1]], axis=1), targets)


def draw(rng, n_dates, *, fresh=False):
    """Dates of all years, months and days alike, each in a form drawn for it.

    fresh    True draws from the dates that are held out of training, False from all others
    returns  Batch
    """
    texts, isos = [], []
    while len(texts) < n_dates:
        drawn = np.stack([rng.integers(YEARS[0], YEARS[1] + 1, n_dates), rng.integers(1, 13, n_dates), rng.integers(1, 32, n_dates),
                          rng.integers(0, len(FORMS), n_dates)], axis=1)
        for year, month, day, form in drawn.tolist():
            if day <= monthrange(year, month)[1] and held_out(year, month, day) == fresh and len(texts) < n_dates:
                texts.append(written(year, month, day, form))
                isos.append(f"{year}-{month:02d}-{day:02d}")
    return batch(texts, isos)


def characters(ids):
    """A row of ids as one text; filler and start sign are shown as they stand in the vocabulary.

    >>> characters([3, 0])
    '1·'
    """
    return "".join(VOCABULARY[i] for i in ids)


def text_of(ids):
    """The characters of a row of ids, without filler and start sign.

    >>> text_of([15, 1, 0])
    'c'
    """
    return "".join(VOCABULARY[i] for i in ids if i > 1)


def looks_at(dates):
    """Where the answer stands: for each character of the ISO date, the characters of the text that say it.

    A digit of the year and of a two-digit day stands in one place; the digits of the month stand in the whole name; both digits of a
    one-digit day stand in that digit. The hyphens stand nowhere.

    returns  bool (n_dates, 10, n_sources)
    """
    where = np.zeros((*dates.targets.shape, dates.source_ids.shape[1]), dtype=bool)
    for row, ids in enumerate(dates.source_ids):
        places = read(text_of(ids)).places
        for digit in range(4):
            where[row, digit, places["year"][0] + digit] = True
        where[row, 5:7, slice(*places["month"])] = True
        where[row, 8, places["day"][0]] = where[row, 9, places["day"][1] - 1] = True
    return where


class Dates(NamedTuple):
    """The task as the training loop and the zoo see it."""

    name: str = "alignment"
    vocabulary: tuple[str, ...] = VOCABULARY
    idea: str = "write the date as ISO 8601 does"
    draw: object = draw
    looks_at: object = looks_at
