"""How a byte-pair piece came to be: the merges that made it."""


def merges_behind(tokenizer, piece):
    """The merge that made a piece, the merges that made its two parts, and so on down to the bytes.

    tokenizer  BytePairTokenizer
    piece      bytes in its vocabulary
    returns    list of int, the numbers of the merges in the order in which they were learned; none for a single byte

    >>> from core.tokenizers import BytePairTokenizer
    >>> merges_behind(BytePairTokenizer([(b"a", b"b"), (b"c", b"d"), (b"ab", b"e")]), b"abe")
    [0, 2]
    """
    waiting, found = [piece], set()
    while waiting:
        merge = tokenizer.ids[waiting.pop()] - 256
        if merge >= 0:
            found.add(merge)
            waiting += tokenizer.merges[merge]
    return sorted(found)
