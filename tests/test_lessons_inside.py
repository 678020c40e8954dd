"""The page that looks inside trained models: what it draws and says, against a forward pass and counts written out here."""

import math
import re

import numpy as np
import pytest

from core import zoo
from core.zoo import figures
from pages.shared import inside
from tests.page_tools import drawn, everything_said, matrices, notes, panel, picture, pictures, recomputed, shown, visit
from tests.test_scripts import printed as script_prints

TITLES = {name: zoo.recipe(name).title for name in inside.MODELS}
OWN = "“Or your own text, in this model's words”"
VIEWS = ("heads", "switch heads off", "logit lens", "what adds to a logit")


def opened(name="pronoun", **more):
    """The page with this model."""
    return visit("looking-inside", **{"looking_inside.model": TITLES[name]} if name != "pronoun" else {},
                 **{f"looking_inside.{key}": value for key, value in more.items()})


def texts(name):
    """The texts that are measured on."""
    return figures.fresh(zoo.recipe(name).task, 200)


# ----------------------------------------------------------------------------------- an independent small computation


def normed(x, gain):
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + 1e-5) * gain


def softmax_rows(scores):
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def by_hand(name, ids, off=(), weights="params"):
    """patterns[block][head], streams before and after the blocks, what each head writes, probabilities, logits; all in float64.

    ids  of one text, or of several in rows
    """
    model = zoo.load(name)
    params, n_heads = getattr(model, weights), model.recipe.config.n_heads
    n = np.shape(ids)[-1]
    x = params["w_embed"][ids].astype(float) + params["w_pos"][:n]
    streams, patterns, written = [x], [], []
    for number, block in enumerate(params["blocks"]):
        own = block["attention"]
        read, d = normed(x, block["norm_1"]["gain"]), x.shape[-1]
        width = d // n_heads
        heads, shares = [], []
        for head in range(n_heads):
            q, k, v = (read @ own["w_qkv"][:, part * d + head * width:part * d + (head + 1) * width] for part in range(3))
            heads.append(softmax_rows(np.where(np.tri(n) > 0, q @ k.swapaxes(-1, -2) / math.sqrt(width), -np.inf)))
            shares.append(heads[-1] @ v @ own["w_o"][head * width:(head + 1) * width] * ((number, head) not in off))
        x = x + sum(shares)
        if "feed_forward" in block:
            x = x + np.maximum(normed(x, block["norm_2"]["gain"]) @ block["feed_forward"]["w_in"], 0) @ block["feed_forward"]["w_out"]
        streams.append(x)
        patterns.append(heads)
        written.append(shares)
    table = params.get("w_unembed", params["w_embed"]).astype(float)
    logits = [normed(stream, params["final_norm"]["gain"]) @ table.T for stream in streams]
    return patterns, streams, written, [softmax_rows(each) for each in logits], logits[-1]


def accuracy(name, off=()):
    """Right answers on the texts, counted one by one."""
    batch = texts(name)
    guesses = by_hand(name, batch.token_ids, off)[4].argmax(axis=-1)
    right = [guess == target for row, targets in zip(guesses.tolist(), batch.targets.tolist(), strict=True)
             for guess, target in zip(row, targets, strict=True) if target >= 0]
    return sum(right) / len(right)


def bars(at, start):
    """The heights of the bars in the picture with this title, one list a series."""
    return [trace["y"].tolist() for trace in picture(at, start).spec["data"]]


def table(at, head):
    """The cells of the Markdown table whose head begins so."""
    (found,) = [said for said in shown(at, "say") if said.startswith(head)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found.split("\n")[2:]]


def score_rows(at):
    """{head: [cells]} of the two tables of what heads look at, side by side."""
    left, right = (table(at, f"| weight on | {first} |") for first in ("the token before", "what followed it"))
    return {one[0]: [*one[1:], *other[1:]] for one, other in zip(left, right, strict=True) if one[0] == other[0]}


# ------------------------------------------------------------------------------------------------------------- any model


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", inside.MODELS)
def test_every_view_of_every_model_opens_and_its_checks_hold(name, view):
    for weights in inside.WEIGHTS:
        at = opened(name, view=view, weights=weights, number=7)
        assert not at.exception and not at.error and notes(at) == [] and pictures(at)
        assert all(residual <= allowed for _, residual, allowed in shown(at, "check"))
        assert [value for _, value in recomputed(panel(at))][-1] == pytest.approx(
            float(re.search(r"value on this page: (\S+)", "\n".join(panel(at)))[1]), abs=1e-9)


@pytest.mark.parametrize("name, number", [("pronoun", 0), ("induction", 3), ("induction_other", 3)])
def test_the_patterns_are_those_of_both_models_on_the_same_text(name, number):
    at, ids = opened(name, number=number, head="block 1 head 0"), texts(name).token_ids[number]
    for weights, params, place in (("trained", "params", 0), ("random", "untrained", 1)):
        patterns = by_hand(name, ids, weights=params)[0]
        several = [each for each in pictures(at) if not each.title][place]
        for matrix, pattern in zip(matrices(several.spec), [head for block in patterns for head in block], strict=True):
            assert abs(matrix.overlay - pattern).max() <= 1e-9
        assert abs(picture(at, f"Block 1 head 0, {weights}").matrix.overlay - patterns[1][0]).max() <= 1e-9
    assert f"Drawn text {number}: {' '.join(zoo.recipe(name).task.words(ids))}" in shown(at, "words")[0]


def test_the_table_of_scores_is_counted_over_two_hundred_texts_and_names_the_heads():
    name, batch = "induction", texts("induction")
    at = opened(name)
    rows = score_rows(at)
    for block, head in ((0, 0), (1, 1)):
        before, followed, answers = [], [], []
        for ids, targets in zip(batch.token_ids, batch.targets, strict=True):
            pattern = by_hand(name, ids)[0][block][head]
            before.append(np.mean([pattern[q, q - 1] for q in range(1, len(ids))]))
            looks = {q: sum(pattern[q, k + 1] for k in range(q) if ids[k] == ids[q]) for q in range(len(ids)) if ids[q] in ids[:q]}
            followed.append(np.mean(list(looks.values())))
            answers += [looks[q] for q in looks if targets[q] >= 0]
        found = rows[f"block {block} head {head}"]
        assert [found[i].replace("*", "").split()[0] for i in (0, 3, 4)] == [f"{np.mean(each):.2f}" for each in (before, followed, answers)]
        field = (f"puts **{np.mean(before):.2f}** of its weight on the token just before" if block == 0 else
                 f"puts **{np.mean(followed):.2f}** of its weight on what followed the same token before: it is an **induction** head")
        assert f"**Block {block} head {head}** {field}" in everything_said(at)
    assert rows["all alike"][0] == f"{np.mean([1 / (q + 1) for q in range(1, 31)]):.2f}"


def test_a_head_without_a_clear_score_gets_no_name():
    said = everything_said(opened("pronoun"))
    assert "**Block 0 head 0** looks at none of these places clearly" in said
    assert re.search(r"\*\*Block 1 head 1\*\* puts \*\*1\.00\*\* of its weight on the place that holds the answer", said)


# ------------------------------------------------------------------------------------------------------ switch heads off


def test_accuracy_without_heads_is_counted_and_so_is_the_answer_on_this_text():
    at = opened("pronoun", view="switch heads off", on_1_0="false", on_1_1="false", on_1_2="false")
    off = [(1, 0), (1, 1), (1, 2)]
    (found,) = bars(at, "Right answers")
    assert [found[0], found[1], found[6]] == pytest.approx([accuracy("pronoun"), accuracy("pronoun", off), accuracy("pronoun", [(1, 1)])])
    ids = texts("pronoun").token_ids[0]
    for series, heads in zip(bars(at, "This text"), ([], off), strict=True):
        assert series == pytest.approx(by_hand("pronoun", ids, heads)[3][-1][15].tolist(), abs=1e-9)
    assert f"without all of them it is **{accuracy('pronoun', off):.3f}**" in everything_said(at)


@pytest.mark.parametrize("name, says", [
    ("agreement", "**the others suffice**"), ("induction", "**the others suffice**"),
    ("reverse", "Block 0 head 1 looks at the answer most"),
    ("induction_other", "A head may be needed without looking where one would expect")])
def test_what_the_heads_are_needed_for_is_said(name, says):
    at = opened(name, view="switch heads off")
    assert says in everything_said(at)
    assert "suffice" in says or "suffice" not in everything_said(at)
    (found,) = bars(at, "Right answers")
    worst = int(np.argmin(found[2:]))
    n_heads = zoo.recipe(name).config.n_heads
    assert found[2 + worst] == pytest.approx(accuracy(name, [divmod(worst, n_heads)]), abs=1e-12)


# ------------------------------------------------------------------------------------------- what it would say, and why


@pytest.mark.parametrize("name, position", [("pronoun", 15), ("induction_other", 20)])
def test_the_lens_reads_the_streams_and_ends_with_what_the_model_says(name, position):
    batch = texts(name)
    at = opened(name, view="logit lens", position=f"{position} · {zoo.recipe(name).task.words(batch.token_ids[0])[position]}")
    _, _, _, probs, _ = by_hand(name, batch.token_ids[0])
    assert abs(drawn(at, "The next token after position") - np.array([each[position] for each in probs])).max() <= 1e-9
    wanted = int(batch.targets[0, position])
    for row, each in zip(table(at, "| stop |"), probs, strict=True):
        assert row[1] == f"{zoo.recipe(name).task.vocabulary[each[position].argmax()]} {each[position].max():.3f}"
        assert row[2:] == [f"{each[position][wanted]:.3f}", str(sorted(each[position], reverse=True).index(each[position][wanted]) + 1)]
    asked = np.flatnonzero(batch.targets[0] >= 0)
    if len(asked) > 1:
        right = np.array([[each[i][batch.targets[0, i]] for i in asked] for each in probs])
        assert abs(drawn(at, "Probability of the right token") - right).max() <= 1e-9


@pytest.mark.parametrize("name", ["pronoun", "induction_other"])
def test_what_every_part_adds_is_that_parts_share_of_the_logit(name):
    at, ids = opened(name, view="what adds to a logit"), texts(name).token_ids[0]
    position, wanted = len(ids) - 1, int(texts(name).targets[0, -1])
    _, streams, written, probs, logits = by_hand(name, ids)
    own, other = bars(at, "What each part adds")
    params = zoo.load(name).params
    final, gain, row = streams[-1][position], params["final_norm"]["gain"], params.get("w_unembed", params["w_embed"])[wanted]
    root = math.sqrt(final.var() + 1e-5)
    labels = picture(at, "What each part adds").spec["layout"]["xaxis"]["ticktext"]
    for block, shares in enumerate(written):
        for head, share in enumerate(shares):
            part = share[position]
            assert own[labels.index(f"B{block}H{head}")] == pytest.approx(((part - part.mean()) / root * gain) @ row, abs=1e-9)
    second = int(np.argsort(-probs[-1][position])[1])
    assert [sum(own), sum(other)] == pytest.approx([logits[position, wanted], logits[position, second]], abs=1e-9)
    assert f"is **{logits[position, wanted]:.4f}**" in everything_said(at) and f"**{logits[position, second]:.4f}**" in everything_said(at)


@pytest.mark.parametrize("view, name", [("logit lens", "word"), ("what adds to a logit", "token")])
def test_the_token_taken_apart_is_the_followed_one_until_another_is_picked(view, name):
    followed = [int(texts("pronoun").targets[number, -1]) for number in (0, 1, 2, 3)]
    assert len(set(followed)) > 1
    at = opened(column="13 · red", row="15 · they")  # a key of the view of heads means nothing here
    at.session_state["looking_inside.view"] = view
    at.run()
    for number, wanted in enumerate(followed):
        at.session_state["looking_inside.number"] = number
        at.run()
        assert at.session_state[f"looking_inside.{name}"] == wanted
    other = next(i for i in range(9, 15) if i not in followed)
    at.session_state[f"looking_inside.{name}"] = other
    at.run()
    at.session_state["looking_inside.number"] = 0
    at.run()
    assert at.session_state[f"looking_inside.{name}"] == other and not at.exception


@pytest.mark.parametrize("name, even, in_text", [("pronoun", 1 / 6, 1 / 3), ("agreement", 1 / 2, None)])
def test_the_chance_of_a_blind_guess_stands_beside_the_accuracy(name, even, in_text):
    """Six colours, three of them in the text; two verbs, none of them in it."""
    said = everything_said(opened(name, view="switch heads off"))
    assert f"A blind guess among them is right in **{even:.3f}**" in said
    assert ("named by then" in said) == (in_text is not None) and (in_text is None or f"named by then in **{in_text:.3f}**" in said)


def test_a_model_without_feed_forward_layers_is_not_said_to_have_one():
    without, with_one = (everything_said(opened(name, view="what adds to a logit")) for name in ("pronoun", "induction_other"))
    assert not zoo.recipe("pronoun").config.d_ff and zoo.recipe("induction_other").config.d_ff
    assert "no feed-forward layers" in without and "B1FF" not in without and "B1FF that block's feed-forward layer" in with_one


def test_one_token_compared_with_itself_has_one_row_of_bars():
    at = opened(view="what adds to a logit", token="9 · red", other="9 · red")
    assert len(bars(at, "What each part adds")) == 1 and "Choose another token" in everything_said(at)


# ------------------------------------------------------------------------------------------- same answers, another way


def test_right_answers_without_a_head_that_looks_at_them_are_shown_beside_the_control():
    at = opened(view="same answers, another way")
    right, most, even = bars(at, "Right answers")
    names = ("induction", "induction_other", "induction_one_block", "coreference", "coreference_uniform")
    for name, share in zip(names, right, strict=True):
        assert share == pytest.approx(accuracy(name), abs=1e-12)
    for place, name in ((1, "induction_other"), (3, "coreference")):
        batch, config = texts(name), zoo.recipe(name).config
        where = zoo.recipe(name).task.looks_at(batch)
        looks = np.zeros((config.n_layers, config.n_heads))
        for ids, places in zip(batch.token_ids, where, strict=True):
            looks += [[pattern[places].sum() for pattern in block] for block in by_hand(name, ids)[0]]
        assert most[place] == pytest.approx((looks / where.any(axis=-1).sum()).max(), abs=1e-5)
    assert min(right[i] for i in (0, 1, 3, 4)) > 0.97 and right[2] < 0.35      # the control never learns it
    assert most[0] > 0.9 and max(most[1], most[2]) < 0.3 and most[3] > 0.8     # no head looks at the answer, right or wrong
    assert most[4] == pytest.approx(1 / 7) == even[4]
    heads = [note["text"] for each in pictures(at) if not each.title for note in each.spec["layout"]["annotations"]]
    assert [re.fullmatch(r"<b>(.+): block \d head \d</b>", each)[1] for each in heads] == [
        "repeated", "otherwise", "one-block", "pronoun", "all-alike"] and "most weight on the answer" in everything_said(at)
    several = [matrices(each.spec) for each in pictures(at) if not each.title]
    assert abs(several[1][1].overlay - np.tri(7) / np.arange(1, 8)[:, None]).max() <= 1e-12
    said = everything_said(at)
    assert "Right answers do not say how they were found" in said and "Jain & Wallace 2019" in said and "Wiegreffe & Pinter 2019" in said
    assert all(f"“{TITLES[name]}” (seed " in shown(at, "weights")[0] for name in names)


# ------------------------------------------------------------------------------------------------------------- any text


@pytest.mark.parametrize("view", VIEWS)
def test_an_own_text_in_the_models_words_is_read(view):
    words = "the twins wore blue . they"
    at = opened(view=view, words=words)
    assert not at.exception and shown(at, "remark") == [] and shown(at, "words")[0] == f"Your text: {words}"
    ids = zoo.recipe("pronoun").task.encode(words.split())
    if view == "heads":
        assert abs(picture(at, "Block 1 head 1, trained").matrix.overlay - by_hand("pronoun", ids)[0][1][1]).max() <= 1e-9
    if view == "logit lens":
        assert "nothing is marked as right" in everything_said(at)
        assert drawn(at, "Probability of the followed token").shape == (3, 6)


def test_the_sentence_of_the_course_is_read_where_the_model_has_its_words():
    at = visit("looking-inside", text="the king wore red . he")
    assert shown(at, "words")[0] == "Your text: the king wore red . he" and shown(at, "remark") == []


@pytest.mark.parametrize("words, fault, named", [
    ("the goat wore red", f"{OWN} can't be read: 1 of its words is not among the 15 of this model's vocabulary", '"goat"'),
    ("The king", "1 of its words is not among the 15", '"The"'),
    ("a goat wore grey . a", "3 of its words are not among the 15", '"a", "goat", "grey"'),
    ("a b c d e", "5 of its words are not among the 15", '"a", "b", "c" and 2 more'),
    ("the king " * 9, f"{OWN} can't be read: it has 18 words and this model reads at most 16", None),
    ("![x](http://evil.example/a.png) $x$", "2 of its words are not among the 15", '"![x](http://evil.example/a.png)", "$x$"')])
def test_a_text_that_the_model_cant_read_gets_one_sentence_and_the_drawn_text_stays(words, fault, named):
    at = opened(words=words, number=4)
    (remark,) = shown(at, "remark")
    assert fault in remark and remark.endswith("Drawn text 4 is shown until that is changed.") and not at.exception
    lines = shown(at, "words")
    assert any(line.startswith("Drawn text 4: ") for line in lines)
    assert named is None or (f'Not in the vocabulary: {named}. The vocabulary: . the wore king' in lines[0] and named not in remark)
    course = visit("looking-inside", text=words, looking_inside__number=4)
    assert shown(course, "remark")[0].replace("“Your own sentence”", OWN) == remark


def test_a_text_of_no_words_is_no_text():
    assert shown(opened(words="  "), "words") == shown(opened(), "words")


# ----------------------------------------------------------------------------------------------------------- the script


def test_the_script_prints_what_the_page_draws(tmp_path):
    at, ids = opened("coreference", number=2), texts("coreference").token_ids[2]
    numbers = script_prints(at, tmp_path)
    patterns, _, _, probs, logits = by_hand("coreference", ids)
    wanted = int(texts("coreference").targets[2, -1])
    assert abs(numbers["pattern of block 0 head 0"] - patterns[0][0]).max() <= 1e-9
    before = np.mean([patterns[0][0][q, q - 1] for q in range(1, 7)])
    assert numbers["previous-token score of block 0 head 0"][0][0] == pytest.approx(before)
    assert abs(numbers["lens"] - np.array([each[6] for each in probs])).max() <= 1e-9
    assert sum(numbers["adds"][0]) == pytest.approx(numbers["logit"][0][0]) == pytest.approx(logits[6, wanted])


# ------------------------------------------------------------------------------- a trained layer on the pages of attention


@pytest.mark.parametrize("weights, params", [("trained", "params"), ("random", "untrained")])
def test_the_trained_layer_stands_on_the_pages_of_attention_as_its_model_computes_it(weights, params):
    batch = texts("agreement")
    ids, targets = next(pair for pair in zip(*batch, strict=True) if pair[1][-1] >= 0)
    patterns = by_hand("agreement", ids, weights=params)[0][0]
    words = zoo.recipe("agreement").task.words(ids)
    subject = next(i for i, word in enumerate(words) if word.rstrip("s") in ("dog", "cat", "boy", "girl", "king", "bird"))
    asked = {"example": "Trained: Subject and verb", "weights": weights}
    many = visit("many-heads", **{f"many_heads.{key}": value for key, value in asked.items()})
    one = visit("attention", **{f"attention.{key}": value for key, value in asked.items()})
    for head in (0, 1):
        assert abs(picture(many, f"Pattern of head {head}").matrix.overlay - patterns[head]).max() <= 1e-9
    assert abs(picture(one, "3 · normalise").matrix.overlay - patterns[1]).max() <= 1e-9  # the head that looks most at the subject
    assert picture(one, "3 · normalise").matrix.rows == words
    for at, shares in ((many, patterns), (one, patterns[1:])):
        said = ", ".join(f"**{pattern[-1, subject]:.2f}**" for pattern in shares)
        assert f"These are the {weights} weights." in everything_said(at) and f"{said} of its weight on the subject" in everything_said(at)
        assert not at.exception and not at.error and all(residual <= allowed for _, residual, allowed in shown(at, "check"))
        assert "means nothing" in shown(at, "weights")[0] or "mean nothing" in shown(at, "weights")[0]
        assert recomputed(panel(at))
    assert (patterns[1][-1, subject] > 0.9) == (weights == "trained")


def test_the_scripts_of_the_trained_layer_print_its_patterns(tmp_path):
    for url, name, title in (("attention", "pattern", "3 · normalise"), ("many-heads", "pattern of head 0", "Pattern of head 0")):
        at = visit(url, **{f"{url.replace('-', '_')}.example": "Trained: Subject and verb"})
        assert abs(script_prints(at, tmp_path)[name] - picture(at, title).matrix.overlay).max() <= 1e-12
