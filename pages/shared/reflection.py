"""Looking back: what a person writes about the course, and their own page of it to keep."""

import streamlit as st

from core import questions
from core.questions import asking
from pages.shared import controls, lesson, quiz, saving, syllabus, text

LIMIT = 3000
TITLE = "What I take from Transformer Glassbox"
PROMPTS = {  # name: (label and heading, what it asks for)
    "explain": ("A Transformer, explained to someone who never saw a computer",
                "No technical word without a picture from everyday life: who looks at whom, who listens, what is mixed?"),
    "first_step": ("My first step in building with it", "Small enough to be done this week."),
    "learned": ("Three things I learned", "One a line."),
    "open": ("One question I still have", "The one you would ask at the end of a talk."),
}


def ask():
    """The fields to write into. Returns {name: what was written}, each cut to LIMIT characters, with a sentence where it was."""
    written = {}
    for name, (label, hint) in PROMPTS.items():
        raw = st.text_area(label, placeholder=hint, height=140 if name != "open" else 80, **controls.private(quiz.PAGE, f"words.{name}"))
        cleaned = text.clean(raw)
        if len(cleaned.text) > LIMIT:
            lesson.warn(f"This text has {len(cleaned.text):,} characters; the first {LIMIT:,} are kept for your page. Shorten it to keep "
                        "it whole.")
        lesson.remarks(cleaned.notes)
        written[name] = cleaned.text[:LIMIT].strip()
    return written


def as_markdown(written, results):
    """What a person wrote and what they scored, as a Markdown text. Their words stand in it as quotations.

    written  {name of a prompt: text}
    results  list of core.questions.Result
    returns  str
    """
    lines = [f"# {TITLE}", ""]
    for name, (label, _) in PROMPTS.items():
        lines += [f"## {label}", "", *(f"> {line}".rstrip() for line in (written.get(name) or "(left empty)").splitlines()), ""]
    whole, parts = questions.score(results)
    lines += ["## My score", ""]
    if not results:
        lines += ["No question was marked in this visit.", ""]
        return "\n".join(lines)
    lines += [f"{asking.on_paper(whole.points, 2)} of {whole.n}", "", "| part | marked | points |", "|:--|--:|--:|",
              *(f"| {questions.TOPICS[topic]} | {part.n} | {asking.on_paper(part.points, 2)} |" for topic, part in parts.items()), ""]
    missed = dict.fromkeys((each.url, each.title) for each in results if each.points < 1)
    lines += ["## To look at again", "", *(f"- {title}: page “{syllabus.by_url(url).title}”" for url, title in missed)] if missed else [
        "Everything that was marked was right."]
    return "\n".join(lines) + "\n"


def export(written):
    """The button that saves the page."""
    saving.button("Save my page as Markdown", "transformer-glassbox.md", as_markdown, written, quiz.results())
