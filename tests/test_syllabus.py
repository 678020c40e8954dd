"""The list of lessons: complete, without doubles, and in one order everywhere."""

import re

import pytest

from pages.shared import syllabus
from tests.page_tools import ROOT


def test_files_addresses_and_titles_are_each_there_once():
    for field in ("file", "url", "title", "question", "idea"):
        values = [getattr(lesson, field) for lesson in syllabus.LESSONS]
        assert all(values) and len(set(values)) == len(values)


@pytest.mark.parametrize("lesson", syllabus.LESSONS, ids=lambda lesson: lesson.url)
def test_an_entry_is_well_formed(lesson):
    number, name = re.fullmatch(r"(\d\d)_([a-z_]+)\.py", lesson.file).groups()
    assert (ROOT / "pages" / lesson.file).is_file()
    assert lesson.url.replace("-", "_") == name == lesson.key
    assert lesson.question.endswith("?") and re.fullmatch(r"[a-z-]+", lesson.url)


def test_the_numbers_of_the_files_rise():
    numbers = [lesson.file[:2] for lesson in syllabus.LESSONS]
    assert numbers == sorted(numbers)


def test_previous_and_next_form_one_chain():
    first, *_ = syllabus.LESSONS
    walked, at = [first], first
    while (after := syllabus.neighbours(at)[1]) is not None:
        assert syllabus.neighbours(after)[0] is at
        walked.append(after)
        at = after
    assert tuple(walked) == syllabus.LESSONS and syllabus.neighbours(first)[0] is None


def test_parts_keep_the_order_and_lose_no_lesson():
    assert tuple(lesson for lessons in syllabus.parts().values() for lesson in lessons) == syllabus.LESSONS


@pytest.mark.parametrize("lesson", syllabus.LESSONS, ids=lambda lesson: lesson.url)
def test_a_lesson_is_found_by_its_address(lesson):
    assert syllabus.by_url(lesson.url) is lesson


@pytest.mark.parametrize("url", ["", "nope", "Attention", None])
def test_the_bare_or_an_unknown_address_leads_to_the_first_lesson(url):
    assert syllabus.by_url(url) is syllabus.LESSONS[0]
