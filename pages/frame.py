"""What every page stands in: the menu from the syllabus, the course-wide settings, the head and the foot."""

import pathlib

import streamlit as st

from pages.shared import lesson, syllabus

st.set_page_config(page_icon=str(pathlib.Path(__file__).parent / "shared" / "icon.png"), layout="wide", initial_sidebar_state=250)

page_of = {entry.url: st.Page(entry.file, title=entry.title, url_path=entry.url, default=entry is syllabus.LESSONS[0])
           for entry in syllabus.LESSONS}
page = st.navigation({part: [page_of[entry.url] for entry in lessons] for part, lessons in syllabus.parts().items()}, expanded=True)
wanted = st.session_state.pop("_go", None)
if wanted is not None:
    st.switch_page(page_of[wanted], query_params={})
current = syllabus.by_url(page.url_path)

slot = lesson.begin(current, page_of)
page.run()
lesson.finish(current, slot)
