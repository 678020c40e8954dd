"""Welcome: the map of the course, and three ways through it."""

import streamlit as st

from pages.shared import controls, diagrams, lesson, syllabus

PAGE = "welcome"
PATHS = {
    "I want to learn": "Take the pages in order. Each asks a question, lets you guess, and then shows you every number. Start with the "
                       "ready-made examples; when a page is clear, type a sentence of your own above and watch it go through the same "
                       "steps.",
    "I teach": "Every setting and the clicked cell stand in the address: prepare a page, copy its address, and your class opens the very "
               "same numbers. The examples print the same digits on every machine. Most pages can be downloaded as a script that needs "
               "NumPy alone. The quiz has a link that gives a class the same questions.",
    "I look something up": "Lessons end with the functions that ran, the checks, the words they teach and the sources. The glossary finds "
                           "a word, also by the name that other code has for it. Jump to a page from the map or the menu.",
}

lesson.remarks(controls.own_tokens()[1])
lesson.say("**Transformer Glassbox** shows the Transformer at work on small examples and on your own sentence. Nothing is a sketch: "
           "**every number is computed by a NumPy core that you can read**, and a click on a cell shows the sum that made it.")

lessons = [entry for entry in syllabus.LESSONS if entry.url != "welcome"]
groups = {part: [(entry.title, entry.idea) for entry in entries if entry in lessons] for part, entries in syllabus.parts().items()}


def open_lesson():
    """Go to the lesson whose box was clicked."""
    point = controls.clicked(f"{PAGE}.map")
    if point is not None:
        st.session_state["_go"] = lessons[point["point_index"]].url


lesson.heading("The map")
drawing = diagrams.rows({part: entries for part, entries in groups.items() if entries}, 3, title="", dark=lesson.dark())
lesson.picture(drawing, f"{PAGE}.map", "Map of the course, in order: " + ", ".join(entry.title for entry in lessons)
               + ". The same pages are in the list below.", open_lesson)

path = controls.choice(PAGE, "path", "Your way through it", list(PATHS))
lesson.say(PATHS[path])
for part, entries in groups.items():
    if entries:
        lesson.say(f"**{part}**")
    for entry in (entry for entry in lessons if entry.part == part):
        left, right = st.columns([1, 2.4], vertical_alignment="center")
        with left:
            lesson.link(entry, f"**{entry.title}**")
        with right:
            lesson.small(entry.question)

lesson.say("**How a page works.** Question, guess, play, numbers, check. Pick a cell by click or with the lists. The bar at the foot shows "
           "its sum with every digit. “Checked here” tests the page's own numbers while you look. What you type is kept in the address, so "
           "that a link can carry it; it is shown as text and never run.")
lesson.say("**What random weights can't show.** Where matrices are drawn at random, the pages show how the arithmetic works and nothing "
           "about language. Each page says where its numbers come from.")
