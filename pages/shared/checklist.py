"""What to settle before a model answers people: a list to tick, and the same as Markdown to take away."""

# group, its points: a short name, and what is settled once it is ticked
POINTS = (
    ("Task and size", (
        ("Task written down", "The task is written down with examples of right answers, and of messages it must refuse."),
        ("Simple things first", "A simple rule or a smaller model was tried first, and its figures are known."),
        ("Size computed", "The parameters, and the memory and time for the longest input, were computed before the machine was chosen."),
    )),
    ("Tokens and limits", (
        ("Domain words tried",
         "The words of the domain were run through the tokenizer: how many tokens they take, and which become unknown."),
        ("Limits said aloud", "There is a limit on the input, and the person is told when a text is cut and where."),
        ("Position tested", "It was measured how answers change when the important part stands at the start, in the middle, at the end."),
    )),
    ("Private data", (
        ("Private data masked",
         "Names, addresses, numbers and keys are masked before the text leaves the house, and logs hold no more than they must."),
        ("Access and deletion", "It is settled who may read the messages, where they are stored and when they are deleted."),
    )),
    ("What goes in, what comes out", (
        ("Input checked", "The input is checked for language, length, odd characters and files that do not belong there."),
        ("Output checked", "The output is checked against a form: a list of allowed answers, a schema, a limit on length."),
        ("Nothing acts unchecked", "Nothing that a model writes is run, sent or paid out without a check outside the model."),
    )),
    ("Evaluation", (
        ("Measure fits the harm",
         "The measure fits the harm: accuracy for each class, and the cost of each kind of error, and not one average."),
        ("Test set apart",
         "There is a set that was never trained on, written by others than the training texts, with the hard and the foreign cases."),
        ("Human review", "People read samples of the answers, by a written rule, and disagreements are counted."),
        ("Threshold chosen fairly", "The threshold below which a person takes over was chosen on one set and measured on another."),
    )),
    ("Watching it run", (
        ("Requests recorded", "Tokens in and out, latency, errors and cost are recorded for each request."),
        ("Drift watched", "The mix of messages and answers is compared with that of last month: a shift (drift) raises an alarm."),
        ("Complaints heard", "There is a way for people to say that an answer was wrong, and somebody reads it."),
    )),
    ("Versions", (
        ("Versions named",
         "The model, its weights, the prompt, the retrieval settings and the tokenizer have versions, and every answer names its own."),
        ("Changes measured", "A change is measured on the same sets before it goes live, and can be taken back within minutes."),
    )),
    ("When it fails", (
        ("Timeouts and retries",
         "There are timeouts, few retries with growing pauses, and a plain answer for when the model is not there."),
        ("Cache", "What is asked again and again is cached, and a changed prompt or model empties the cache."),
        ("Hand-over to a person", "A person can take over at any point, with the whole conversation at hand."),
    )),
    ("Attacks", (
        ("Prompt injection tested",
         "It was tested with texts that try to give new orders (prompt injection), also inside documents that are looked up."),
        ("Leakage tested", "It was tested whether it gives away its instructions, other people's data or keys (leakage)."),
        ("Abuse tested", "It was tested with abuse: insults, floods of requests, requests for harm; there are limits for each person."),
    )),
)
NUMBERED = [point for _, points in POINTS for point in points]


def numbers(raw):
    """The ticked points that an address names, and how many of its entries name none.

    returns  (set of numbers from 1, int)

    >>> numbers("3, 1"), numbers(""), numbers("1 99 x")
    (({1, 3}, 0), (set(), 0), ({1}, 2))
    """
    found, unread = set(), 0
    for word in raw.replace(",", " ").split():
        if word.isascii() and word.isdigit() and len(word) <= 3 and 1 <= int(word) <= len(NUMBERED):
            found.add(int(word))
        else:
            unread += 1
    return found, unread


def markdown(ticked, project="", notes=""):
    """The list as a Markdown text, with what is ticked, for the person's own files.

    ticked          numbers from 1
    project, notes  the person's words; they stand in it as quotations, so that nothing in them turns into a part of the list

    >>> markdown({1}).count("- [x]")
    1
    """
    lines, number = ["# Before it goes live", "", *_quoted(project), f"{len(ticked)} of {len(NUMBERED)} points settled."], 0
    for group, points in POINTS:
        lines += ["", f"## {group}", ""]
        for name, point in points:
            number += 1
            lines.append(f"- [{'x' if number in ticked else ' '}] {number}. {name}. {point}")
    return "\n".join([*lines, "", *(["## Notes", "", *_quoted(notes)] if notes else [])])


def _quoted(words):
    """The person's words as a Markdown quotation, and an empty line; nothing where there are none."""
    return [*(f"> {line}".rstrip() for line in words.splitlines()), ""] if words else []
