"""Text becomes pieces."""


def split_words(text):
    """Cut a text at white space; the pieces keep their case and punctuation.

    Runs of white space separate words and are not pieces themselves, so a text of spaces alone has no piece.

    returns  list of str, in reading order

    >>> split_words("The bank,  the loan")
    ['The', 'bank,', 'the', 'loan']
    """
    return text.split()
