"""Numbers as pages write them."""

import re


def separated(sentence):
    """The whole numbers of a sentence with a comma every three digits, as pages write them.

    >>> separated("d_model 12288 can't be cut into 5 heads; 1024, 12,288 and 0.0001 can stay.")
    "d_model 12,288 can't be cut into 5 heads; 1,024, 12,288 and 0.0001 can stay."
    """
    return re.sub(r"(?<![\w.,])\d{4,}(?!\w)", lambda found: f"{int(found[0]):,}", sentence)


def percent(part, whole, digits=4):
    """A share in words, to so many digits; a tiny one as what it is under.

    >>> percent(1, 3), percent(0, 3), percent(7, 10**6, 2), percent(256, 671026419200), percent(3, 3)
    ('33.33 %', '0 %', 'under 0.001 %', 'under 0.001 %', '100 %')
    """
    share = 100 * part / whole
    return "under 0.001 %" if 0 < share < 0.001 else f"{float(f'{share:.{digits}g}'):g} %"
