"""The glossary: each term with its page, each citation of a page with its source, and a search that finds other code's names."""

import functools
import re

import pytest

from pages.shared import cited, glossary, sources, syllabus
from tests.page_tools import ROOT, URLS, shown, visit, widget

WRITTEN = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "pages").rglob("*.py")) if path.stem != "cited")
JOINED = re.sub(r'"\s*\n\s*"', "", WRITTEN)  # a long text in several lines is one text


@functools.cache
def opened(url=""):
    return visit(url or "glossary")


def test_every_term_has_one_place_and_a_page_that_is_there():
    names = [term.name.casefold() for term in glossary.TERMS]
    assert len(names) > 100 and len(set(names)) == len(names) and names == sorted(names)
    assert {term.url for term in glossary.TERMS} <= set(URLS)
    assert all(term.meaning[0].isupper() or term.meaning[0].isdigit() for term in glossary.TERMS)
    assert all(re.search(r"[.)]$", term.meaning) and len(term.meaning) < 260 for term in glossary.TERMS)


def test_the_page_shows_every_term_once_under_the_page_that_teaches_it():
    at = opened()
    lines = "\n".join(shown(at, "say")).split("\n")
    for term in glossary.TERMS:
        assert lines.count(glossary.line(term)) == 1, term.name
    links = [link.proto.page for link in at.get("page_link")]
    taught = [lesson.url for lesson in syllabus.LESSONS if glossary.of_page(lesson.url)]
    assert links[:-1] == ["", *taught[1:]]  # the first page has the bare address; the last link leads back


@pytest.mark.parametrize("words, names", [
    ("n_embd", {"d_model"}), ("hidden_size", {"d_model"}), ("lm_head", {"Unembedding"}), ("nucleus", {"Top-p"}),
    ("ROPE", {"Rotary positions"}), ("attn_mask", {"Mask"}), ("running maximum", {"Online softmax"}), ("qqqq", set()), ("<b>", set()),
    ("$x$ :red[a]", set()), ("(", set())])
def test_a_word_finds_its_term_by_any_of_its_names(words, names):
    assert {term.name for term in glossary.found(words)} == names


def test_a_search_without_a_hit_says_so_and_leaves_the_rest():
    at = visit("glossary", glossary__find="<i>qqqq</i> $x$")
    (remark,) = shown(at, "remark")
    assert "No term" in remark and "qqqq" not in remark and not at.exception
    assert any(sentence.startswith("| here | nanoGPT") for sentence in shown(at, "say"))
    widget(at, "glossary.find").set_value("n_embd").run()
    assert shown(at, "remark") == [] and any("1 of " in sentence for sentence in shown(at, "say"))


def test_every_code_has_a_name_or_a_dash_for_everything():
    assert {len(names) for names in glossary.NAMES} == {len(glossary.CODES)}
    at = opened()
    for column, code in enumerate(glossary.CODES[1:], 1):
        widget(at, "glossary.code").set_value(code).run()
        (table,) = [sentence for sentence in shown(at, "say") if sentence.startswith("| here")]
        assert all(f"| `{names[0]}` | " in table and names[column] in table for names in glossary.NAMES)


@pytest.mark.parametrize("url", [url for url in URLS if url != "glossary"])
def test_what_a_page_cites_is_in_the_list_of_sources(url):
    for name in shown(opened(url), "source"):
        assert name in cited.CITED[url], name
        assert sources.cited(name), name
    for name in cited.CITED.get(url, ()):
        assert f'"{name}"' in JOINED, name


def test_no_source_is_cited_by_nobody_but_those_that_the_code_names():
    core = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "core").rglob("*.py"))
    for source in sources.SOURCES:
        assert sources.cited_on(source) or source.cite in core or source.cite == "Alammar 2018", source.cite
    assert len({source.cite for source in sources.SOURCES}) == len(sources.SOURCES)


def test_the_sources_name_the_pages_that_rest_on_them():
    lines = [line for sentence in shown(opened(), "say") for line in sentence.split("\n")]
    line = next(line for line in lines if line.startswith("- **Vaswani et al. 2017.**"))
    assert "arxiv.org/abs/1706.03762" in line and "Attention: section 3.2.1" in line and "Causal mask: section 3.2.3" in line


def test_a_page_shows_its_own_words():
    (box,) = [box for box in opened("scaling").expander if box.label == "Words of this page"]
    assert box.markdown[0].value.count("- **") == len(glossary.of_page("scaling")) == 4
