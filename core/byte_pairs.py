"""Byte-pair training: merge the pair of pieces that stands side by side most often, again and again."""

import heapq
import re
from collections import Counter, defaultdict
from typing import NamedTuple

# Words with one leading space, runs of digits, runs of punctuation, white space: a merge never crosses these cuts.
CUTS = re.compile(r" ?[^\W\d_]+| ?\d+| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+")


class Merge(NamedTuple):
    """One step of byte-pair training."""

    left: bytes
    right: bytes
    count: int                 # how often the pair stood side by side
    ties: tuple[tuple[bytes, bytes], ...]  # other pairs with this count, at most 8


def readable(piece):
    """Bytes as text where they are whole characters, else as hexadecimal.

    Half a surrogate pair is no character, and can't be shown either.

    >>> readable(b"ab"), readable("é".encode()[:1])
    ('ab', '<C3>')
    """
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return f"<{piece.hex(' ').upper()}>"


def join_pair(parts, pair):
    """`parts` with every non-overlapping occurrence of `pair`, from the left, made one part.

    >>> join_pair([b"a", b"a", b"a"], (b"a", b"a"))
    [b'aa', b'a']
    """
    joined, i = [], 0
    while i < len(parts):
        if i + 1 < len(parts) and parts[i] == pair[0] and parts[i + 1] == pair[1]:
            joined.append(parts[i] + parts[i + 1])
            i += 2
        else:
            joined.append(parts[i])
            i += 1
    return joined


def train_steps(words, n_merges):
    """Byte-pair training, one Merge at a time, with pair counts kept up to date instead of counted afresh.

    Every piece knows its neighbours and every pair the places where it stands, so a merge costs what it changes: it visits its own
    places alone, however long a word is. The most frequent pair wins; ties go to the pair whose bytes come first.

    words    {word: how often}; a word is a str, or a sequence of pieces of its own (str or bytes)
    returns  iterator of Merge, at most n_merges; it ends early when no pair stands side by side twice
    source   Sennrich, Haddow & Birch 2016, "Neural Machine Translation of Rare Words with Subword Units", algorithm 1

    >>> [(merge.left, merge.right, merge.count) for merge in train_steps({"aba": 2}, 5)]
    [(b'a', b'b', 2), (b'ab', b'a', 2)]
    """
    pieces, before, after, times = _chain(words)
    pairs, where = Counter(), defaultdict(set)

    def stand(place, sign):
        """Count the pair whose left piece is at `place`, or take it from the counts."""
        pair = pieces[place], pieces[after[place]]
        pairs[pair] += sign * times[place]
        if sign > 0:
            where[pair].add(place)
        return pair

    for place, follower in enumerate(after):
        if follower is not None:
            stand(place, 1)
    queue = [(-count, pair) for pair, count in pairs.items()]
    heapq.heapify(queue)
    for _ in range(n_merges):
        while queue and -queue[0][0] != pairs.get(queue[0][1], 0):
            heapq.heappop(queue)  # an old count
        if not queue or -queue[0][0] < 2:
            return
        count, pair = -queue[0][0], queue[0][1]
        yield Merge(*pair, count, _ties(queue, pairs, pair, count))
        changed = set()
        for place in sorted(where.pop(pair)):  # from the left, so that of overlapping places the first is merged
            gone = after[place]
            if gone is None or (pieces[place], pieces[gone]) != pair:
                continue  # its neighbour has changed, or it is part of the pair before it
            around = [at for at in (before[place], place, gone) if at is not None and after[at] is not None]
            changed.update(stand(at, -1) for at in around)
            pieces[place], pieces[gone], after[place], after[gone] = pair[0] + pair[1], None, after[gone], None
            if after[place] is not None:
                before[after[place]] = place
            changed.update(stand(at, 1) for at in (before[place], place) if at is not None and after[at] is not None)
        for each in changed:
            if pairs[each] > 0:
                heapq.heappush(queue, (-pairs[each], each))
            else:
                del pairs[each]


def _chain(words):
    """All words in one row: each place's piece, the places before and after it in its word (None at its ends), its word's count."""
    pieces, before, after, times = [], [], [], []
    for word, count in words.items():
        parts, first = _start(word), len(pieces)
        places = range(first, first + len(parts))
        pieces += parts
        before += [place - 1 if place > first else None for place in places]
        after += [place + 1 if place < places[-1] else None for place in places]
        times += [count] * len(parts)
    return pieces, before, after, times


def _start(word):
    """The pieces that a word begins as: its bytes, or those it comes with."""
    if isinstance(word, str):
        raw = word.encode("utf-8", "surrogatepass")
        return [raw[i:i + 1] for i in range(len(raw))]
    return [part.encode() if isinstance(part, str) else bytes(part) for part in word]


def _ties(queue, pairs, pair, count):
    """Other pairs with the same count, in the order in which they would have won. They leave the queue and come back."""
    same = []
    while queue and -queue[0][0] == count and len(same) < 8:
        each = heapq.heappop(queue)[1]
        if pairs.get(each) == count and each != pair and each not in same:
            same.append(each)
    for each in same:
        heapq.heappush(queue, (-count, each))
    return tuple(same)
