"""Tokens and Embeddings: any text, every number done again by another way, every sum, the scripts."""

import collections
import functools
import html
import re
import subprocess
import sys

import numpy as np
import pytest

from pages.shared import examples, texts
from tests.page_tools import NUMBER, drawn, everything_said, panel, picture, pictures, recomputed, shown, visit, widget

ODD = ["one", "w " * 5000, "👩‍👩‍👧 👍🏽", "سلام", "<b>x</b> $x$ %{x} ![x](http://e.vil/x)", "\u0301", "a a a a",
       "e\u0301\u200b\u200d", "你好世界"]
BLANK = ["", "   "]


# --------------------------------------------------------------------------------------------------- tokens


CUTS = re.compile(r" ?[^\W\d_]+| ?\d+| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+")


def slow_byte_pairs(text, n_merges):
    """Byte-pair training that counts everything afresh before each merge."""
    corpus = [[bytes([b]) for b in cut.encode()] for cut in CUTS.findall(text)]
    merges = []
    for _ in range(n_merges):
        counts = collections.Counter(pair for cut in corpus for pair in zip(cut, cut[1:], strict=False))
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append((best, counts[best]))
        corpus = [slow_join(cut, best) for cut in corpus]
    return merges


def slow_join(parts, pair):
    done = []
    for part in parts:
        if done and (done[-1], part) == pair:
            done[-1] = None
            done[-1:] = [pair[0] + pair[1], None]  # a joined piece is not the left half of another one in the same pass
        else:
            done.append(part)
    return [part for part in done if part is not None]


def slow_encode(text, merges):
    ids, pieces = {bytes([i]): i for i in range(256)}, []
    for number, ((a, b), _) in enumerate(merges):
        ids.setdefault(a + b, 256 + number)
    for cut in CUTS.findall(text):
        parts = [bytes([b]) for b in cut.encode()]
        for pair, _ in merges:
            parts = slow_join(parts, pair)
        pieces += parts
    return pieces, [ids[piece] for piece in pieces]


@functools.cache
def story_merges():
    return slow_byte_pairs(texts.STORY, 60)


def chips_of(at):
    """(pieces, ids) that stand in the boxes."""
    (spec,) = [each.spec for each in pictures(at) if any(trace.get("name") == "chips" for trace in each.spec["data"])]
    found = {trace["name"]: trace for trace in spec["data"]}
    return [html.unescape(piece) for piece in found["pieces"]["text"]], found["ids"]["text"]


@pytest.mark.parametrize("n_merges", [0, 1, 40, 60])
def test_the_boxes_hold_the_pieces_and_ids_of_a_naive_byte_pair_encoding(n_merges):
    at = visit("tokens", tokens__n_merges=str(n_merges))
    expected, ids = slow_encode(texts.READY["An English sentence"][0], story_merges()[:n_merges])
    assert chips_of(at) == ([piece.decode().replace(" ", "␣") for piece in expected], [str(i) for i in ids])
    bars = picture(at, "Pieces of this text").spec["data"][0]["y"]
    sentence = texts.READY["An English sentence"][0]
    assert bars.tolist() == [len(sentence.split()) * 2 - 1, len(sentence), len(ids)]


def test_the_merges_are_those_of_a_full_recount():
    at = visit("tokens", tokens__n_merges="60")
    assert picture(at, "How often").spec["data"][0]["y"].tolist() == [count for _, count in story_merges()]
    last = shown(at, "words")[-1].split("\n")
    for number, line in zip(range(52, 60), last, strict=True):
        (a, b), count = story_merges()[number]
        left, right = (part.decode().replace(" ", "␣") for part in (a, b))
        assert line.startswith(f"merge {number}: {left} + {right} → {left}{right}, ")
        assert f"id {256 + number}, {count} times" in line


def test_the_words_of_sennrich_give_the_published_merges():
    said = everything_said(visit("tokens", tokens__training="low, lower, newest, widest"))
    assert "`es` (9 times), `est` (9 times), `est</w>` (9 times), `lo` (7 times), `low` (7 times)" in said


@pytest.mark.parametrize("kind", ["byte pairs", "characters", "words"])
@pytest.mark.parametrize("text", [*BLANK, *ODD], ids=lambda text: ascii(text[:12]))
def test_any_text_is_cut_and_nothing_is_lost(text, kind):
    at = visit("tokens", text=text, tokens__tokenizer=kind)
    assert not at.exception and not at.error
    pieces, ids = chips_of(at)
    assert len(pieces) == len(ids) >= 1
    if len(text) > 400:
        assert any("10,000 characters" in remark and "400" in remark for remark in shown(at, "remark"))
    if text == "سلام" and kind == "characters":
        assert pieces == list("سلام") and set(ids) == {"none"} and "This vocabulary lacks" in everything_said(at)
    if text == "سلام" and kind == "words":
        assert ids == ["0"] and "<unk>" in shown(at, "words")


@pytest.mark.parametrize("name", texts.READY)
def test_every_ready_made_text_opens_by_its_address(name):
    at = visit("tokens", tokens__example=name, tokens__n_merges="200")
    assert not at.exception and widget(at, "tokens.n_merges").value == 200
    assert all(residual <= allowed for _, residual, allowed in shown(at, "check"))


def test_a_piece_of_a_character_shows_its_bytes():
    pieces, _ = chips_of(visit("tokens", text="é", tokens__n_merges="0"))
    assert pieces == ["<C3>", "<A9>"]


@pytest.mark.parametrize("name, value", [("tokenizer", "words"), ("training", "the text itself"), ("n_merges", "7"), ("piece", "2 · e")])
def test_a_tokens_address_sets_its_control(name, value):
    at = visit("tokens", text="the e e", **{f"tokens__{name}": value, "tokens__tokenizer": value if name == "tokenizer" else "characters"})
    held = widget(at, f"tokens.{name}").value
    assert not any(button.key == "dismiss" for button in at.button) and str(held) in (value, "2")


def test_the_panel_tells_how_a_piece_was_made():
    at = visit("tokens", tokens__n_merges="60")
    pieces, ids = chips_of(at)
    lines = panel(at)
    number = int(re.match(r"piece (\d+): ", lines[0])[1])
    assert f"value on this page: {ids[number]}" in lines and pieces[number] in lines[0]
    piece = pieces[number].replace("␣", " ").encode()
    assert f"bytes in UTF-8: {piece.hex(' ').upper()}" in lines
    made = [line for line in lines if line.startswith("merge ")]
    assert made[-1].split(" → ")[1].startswith(pieces[number] + ",") and lines[-1].endswith(f"= {ids[number]}")
    parts = [bytes([b]) for b in piece]
    for line in made:
        parts = slow_join(parts, story_merges()[int(re.match(r"merge (\d+)", line)[1])][0])
    assert parts == [piece]


# -------------------------------------------------------------------------------------------------- embeddings


def table_of(example):
    words = list(dict.fromkeys(example.tokens))
    return words, np.array([example.x[example.tokens.index(word)] for word in words])


def slow_cosine(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True)) / (sum(p * p for p in a) ** 0.5 * sum(q * q for q in b) ** 0.5)


@pytest.mark.parametrize("name", ["bank_sentence", "four_tokens"])
def test_every_picture_of_embeddings_is_the_number_done_again(name):
    example = examples.EXAMPLES[name]()
    at = visit("embeddings", embeddings__example=example.title)
    words, table = table_of(example)
    np.testing.assert_array_equal(drawn(at, "The table"), table)
    np.testing.assert_array_equal(drawn(at, "One-hot rows ×"), example.x)
    hot = picture(at, "One-hot rows ×").matrix
    assert hot.rows == list(example.tokens)
    (one_hot,) = [each.matrix.values for each in pictures(at) if each.title == "One-hot rows"]
    assert one_hot.tolist() == [[float(word == token) for word in words] for token in example.tokens]
    np.testing.assert_allclose(drawn(at, "Cosine"), [[slow_cosine(a, b) for b in table] for a in table], atol=1e-12)
    products = [[sum(p * q for p, q in zip(a, b, strict=True)) for b in table] for a in example.x]
    np.testing.assert_allclose(drawn(at, "Logits"), products, atol=1e-12)
    first = sum(max(words, key=lambda word: float(row @ table[words.index(word)])) == token
                for row, token in zip(example.x, example.tokens, strict=True))
    assert f"Here {first} of {len(example.tokens)} looked-up" in everything_said(at)


def test_the_map_keeps_the_distances_that_two_eigenvectors_keep():
    at = visit("embeddings")
    _, table = table_of(examples.bank_sentence())
    centred = table - table.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    flat = centred @ vectors[:, :-3:-1]
    spec = picture(at, "The words").spec
    (points,) = [trace for trace in spec["data"] if trace["name"] == "points"]
    seen = np.column_stack([points["x"], points["y"]])
    np.testing.assert_allclose(seen @ seen.T, flat @ flat.T, atol=1e-9)
    assert f"{values[-1] / values.sum():.0%} of the variance" in spec["layout"]["xaxis"]["title"]["text"]
    assert len(points["text"]) == 9 and "the×3" in points["text"]


@pytest.mark.parametrize("stage, title", [("vector", "One-hot rows ×"), ("logit", "Logits")])
@pytest.mark.parametrize("text", ["", "to be or not to be"])
def test_the_sum_behind_a_cell_of_embeddings_is_its_number(stage, title, text):
    at = visit("embeddings", text=text, embeddings__stage=stage)
    lines = panel(at)
    value = float(re.search(rf"value on this page: ({NUMBER})", "\n".join(lines))[1])
    assert abs(value - drawn(at, title)[0, 1]) < 1e-12
    renamed = [line.replace("logits[", "out[").replace("x[0, 1] = sum", "out[0, 1] = sum") for line in lines]
    assert abs(recomputed(renamed)[-1][1] - value) < 1e-9


def test_every_step_of_a_cosine_comes_to_what_it_says():
    at = visit("embeddings", embeddings__stage="similarity", embeddings__column="2 · refused")
    lines = panel(at)
    steps = [line.split(" = ") for line in lines if line.startswith(("|w_embed[0]| ", "|w_embed[2]| ", "cosine["))]
    assert len(steps) == 3
    for _, expression, result in steps:
        python = expression.replace("×", "*").replace("√", "np.sqrt")
        assert re.fullmatch(r"[\d.e+\-*/() npsqrt]+", python)
        assert abs(eval(python, {"np": np}) - float(result)) < 1e-12  # an expression of numbers, as matched above
    assert abs(float(steps[-1][2]) - drawn(at, "Cosine")[0, 2]) < 1e-12


@pytest.mark.parametrize("d_model", [2, 4, 8, 16, 32])
def test_the_width_follows_the_address(d_model):
    at = visit("embeddings", text="to be or not to be", embeddings__d_model=str(d_model))
    assert drawn(at, "The table").shape == (4, d_model) and not at.exception


@pytest.mark.parametrize("asked, sentence", [(-1, "rows 0 to 8"), (9, "rows 0 to 8"), (50, "rows 0 to 8"), (3, None)])
def test_an_id_outside_the_table_gets_a_sentence_and_the_page_stays(asked, sentence):
    at = visit("embeddings", embeddings__id=str(asked))
    assert not at.exception and len(pictures(at)) == 6
    assert any(sentence in remark for remark in shown(at, "remark")) if sentence else not shown(at, "remark")


def test_a_trained_table_holds_the_number_of_a_noun_and_a_random_one_does_not():
    from core import tasks, zoo

    vocabulary, made = zoo.recipe("agreement").task.vocabulary, zoo.load("agreement")
    for weights, params in (("trained", made.params), ("random", made.untrained)):
        at = visit("embeddings", embeddings__example="Trained: Subject and verb", embeddings__weights=weights)
        table = {word: params["w_embed"][i] / np.linalg.norm(params["w_embed"][i].astype(float)) for i, word in enumerate(vocabulary)}
        cosines = [[float(table[a] @ table[b]) for b in vocabulary] for a in vocabulary]
        np.testing.assert_allclose(drawn(at, "Cosine of every two words"), cosines, atol=1e-6)
        same = np.mean([table[a] @ table[b] for nouns in (tasks.SINGULAR, tasks.PLURAL) for a in nouns for b in nouns if a != b])
        across = np.mean([table[a] @ table[b] for a in tasks.SINGULAR for b in tasks.PLURAL])
        assert f"mean cosine of **{same:.2f}**, a singular and a plural **{across:.2f}**" in everything_said(at)
        assert (same > 0.6 and across < -0.3) == (weights == "trained")
        assert any("means nothing" in each or "mean nothing" in each for each in shown(at, "weights"))


@pytest.mark.parametrize("text", [*BLANK, *ODD], ids=lambda text: ascii(text[:12]))
def test_any_text_has_embeddings(text):
    at = visit("embeddings", text=text)
    assert not at.exception and not at.error
    one_word = len(picture(at, "Cosine of every two words").matrix.rows) == 1  # a single point has no map
    assert len(pictures(at)) == 6 - one_word and ("nothing to compare" in everything_said(at)) == one_word
    assert all(residual <= allowed for _, residual, allowed in shown(at, "check"))


# ----------------------------------------------------------------------------------------------------- the scripts


def script_of(at, tmp_path):
    (build,) = at.session_state["_below"]["script"]
    path = tmp_path / "page.py"
    path.write_text(build(), encoding="utf-8")
    ran = subprocess.run([sys.executable, "-I", "-X", "utf8", path], capture_output=True, text=True, encoding="utf-8", timeout=60,
                         check=True)
    sections, name = {}, None
    for line in ran.stdout.split("\n"):
        if line.startswith("["):
            sections[name].append(eval(line, {"__builtins__": {}, "nan": np.nan}))  # what the page's own script printed
        elif line:
            sections[name := line] = []
    return sections


@pytest.mark.parametrize("kind", ["byte pairs", "characters", "words"])
def test_the_script_prints_the_pieces_and_ids_of_the_page(kind, tmp_path):
    at = visit("tokens", text="the bänk 👩‍👩‍👧 ' \" \\", tokens__tokenizer=kind)
    pieces, ids = chips_of(at)
    printed = script_of(at, tmp_path)
    assert [str(i).lower() for i in printed["ids"][0]] == ids
    assert len(printed["pieces"][0]) == len(pieces)


def test_the_script_prints_the_numbers_of_the_embeddings_page(tmp_path):
    at = visit("embeddings", text="to be or not to be")
    printed = script_of(at, tmp_path)
    for name, title in (("x", "One-hot rows ×"), ("cosine", "Cosine"), ("logits", "Logits")):
        np.testing.assert_array_equal(printed[name], drawn(at, title))
