"""The pages of part 3: their numbers against an independent computation, the worked examples, and every sum behind a cell."""

import math
import re

import numpy as np
import pytest

from pages.shared import architecture, examples, syllabus
from tests.page_tools import drawn, everything_said, panel, picture, pictures, recomputed, shown, softmax_rows, visit, widget
from tests.test_scripts import NASTY, agree
from tests.test_scripts import printed as script_prints

# ----------------------------------------------------------------------------------- an independent small computation


def layer_norm(x, eps=1e-5):
    """One number at a time."""
    rows = []
    for row in np.asarray(x, dtype=float):
        mean = sum(row) / len(row)
        variance = sum((value - mean) ** 2 for value in row) / len(row)
        rows.append([(value - mean) / math.sqrt(variance + eps) if variance + eps else 0.0 for value in row])
    return np.array(rows)


def rms_norm(x, eps):
    return np.array([[value / math.sqrt(sum(v * v for v in row) / len(row) + eps) for value in row] for row in np.asarray(x, dtype=float)])


BENDS = {
    "ReLU": lambda x: max(x, 0.0),
    "GELU, exact": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "GELU, tanh form": lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "SiLU": lambda x: x / (1 + math.exp(-x)),
}


def bend(name, x):
    return np.vectorize(BENDS[name], otypes=[float])(x)


def attend(y, context, w_qkv, w_o, n_heads, causal):
    """Several heads, one at a time. returns (what they write, the patterns)"""
    width = w_o.shape[0] // n_heads
    q, k, v = (source @ w_qkv[:, i * w_o.shape[0]:(i + 1) * w_o.shape[0]] for i, source in enumerate((y, context, context)))
    written, patterns = 0, []
    for head in range(n_heads):
        columns = slice(head * width, (head + 1) * width)
        scores = q[:, columns] @ k[:, columns].T / math.sqrt(width)
        patterns.append(softmax_rows(np.where(np.tri(*scores.shape) > 0, scores, -np.inf) if causal else scores))
        written = written + patterns[-1] @ v[:, columns] @ w_o[columns]
    return written, np.array(patterns)


def block(x, params, n_heads, *, name="GELU, tanh form", pre=True, norm=layer_norm, residual=True, causal=True):
    """A block from its formula."""
    attention, feed_forward = params["attention"], params["feed_forward"]
    written, _ = attend(*[norm(x) if pre else x] * 2, attention["w_qkv"], attention["w_o"], n_heads, causal)
    mid = written + x * residual if pre else norm(written + x * residual)
    read = norm(mid) if pre else mid
    fed = bend(name, read @ feed_forward["w_in"]) @ feed_forward["w_out"]
    out = fed + mid * residual if pre else norm(fed + mid * residual)
    return {"attention writes": written, "stream between": mid, "feed-forward writes": fed, "stream out": out}


def set_to(at, url, **settings):
    """The person sets controls of the page, one after the other."""
    for name, value in settings.items():
        widget(at, f"{url.replace('-', '_')}.{name}").set_value(value)
        at.run()
    assert not at.exception
    return at


def titled(at, title):
    """The numbers of the picture with just this title."""
    (only,) = [each for each in pictures(at) if each.title == title]
    return only.matrix.values


# ------------------------------------------------------------------------------------------------------ normalisation


def test_the_four_vectors_are_normalised_to_the_published_digits():
    at = visit("normalisation")
    layer, rms = drawn(at, "LayerNorm(x)"), drawn(at, "RMSNorm(x)")
    np.testing.assert_allclose(layer[0], [1.7320046213947808, *[-0.5773348737982603] * 3], rtol=1e-12)
    np.testing.assert_allclose(layer[1], [-1.3416354199689269, -0.447211806656309, 0.447211806656309, 1.3416354199689269], rtol=1e-12)
    np.testing.assert_allclose(abs(layer[2]), 0.0316069770620507, rtol=1e-12)
    assert (layer[3] == 0).all()
    np.testing.assert_allclose(rms[1], [0.3651, 0.7303, 1.0954, 1.4606], atol=5e-5)


def test_a_tiny_number_is_not_written_as_0_and_one_flat_vector_is_one():
    at = visit("normalisation")
    traces = picture(at, "x: what comes in").spec["data"]
    tiny = [trace for trace in traces if trace["type"] == "heatmap" and (abs(trace["z"][2]) == 1e-4).any()]
    assert tiny and all("e}" in trace["texttemplate"] for trace in tiny)
    assert "1 of the 4 vectors here has no spread" in everything_said(at)


@pytest.mark.parametrize("asked", [{}, {"text": "the bank <b> the"}, {"text": "alone"},
                                   {"normalisation__eps": "0.1", "normalisation__factor": "10"}, {"normalisation__eps": "0.0"}], ids=str)
def test_the_normalised_rows_are_what_the_formulas_say(asked):
    at = visit("normalisation", **asked)
    x, eps = drawn(at, "x: what"), float(asked.get("normalisation__eps", 1e-5))
    np.testing.assert_allclose(drawn(at, "LayerNorm(x)"), layer_norm(x, eps), atol=1e-12)
    if eps:
        np.testing.assert_allclose(drawn(at, "RMSNorm(x)"), rms_norm(x, eps), atol=1e-12)
        np.testing.assert_allclose(drawn(at, "Batch statistics"), layer_norm(x.T, eps).T, atol=1e-12)


def test_gain_and_offset_are_used_as_typed():
    at = visit("normalisation", normalisation__edit="true", normalisation__gain="2 3 -1 0", normalisation__offset="1 0 0 5")
    x = drawn(at, "x: what")
    np.testing.assert_allclose(drawn(at, "LayerNorm(x)"), layer_norm(x) * [2, 3, -1, 0] + [1, 0, 0, 5], atol=1e-12)
    np.testing.assert_allclose(drawn(at, "RMSNorm(x)"), rms_norm(x, 1e-5) * [2, 3, -1, 0], atol=1e-12)


def test_a_changed_token_moves_its_own_row_of_layer_norm_alone():
    at = visit("normalisation", text="a b c d e")
    alone = picture(at, "How far each row moves with LayerNorm").spec["data"][0]["y"]
    batch = picture(at, "How far each row moves with batch").spec["data"][0]["y"]
    assert (alone[:4] == 0).all() and alone[4] > 0 and (batch > 0).all()


# -------------------------------------------------------------------------------------------------------- feed-forward


@pytest.mark.parametrize("name", BENDS)
@pytest.mark.parametrize("text", ["", "the bank refused"], ids=["preset", "own"])
def test_the_feed_forward_layer_is_what_the_formula_says(name, text):
    at = visit("feed-forward", text=text, feed_forward__bend=name)
    example = examples.feed_forward_by_hand()
    pre, post, out = drawn(at, "1"), drawn(at, "2"), drawn(at, "3")
    np.testing.assert_allclose(post, bend(name, pre), atol=1e-12)
    if not text:
        np.testing.assert_allclose(pre, example.x @ example.params["w_in"], atol=1e-12)
        np.testing.assert_allclose(out, post @ example.params["w_out"], atol=1e-12)
        if name == "ReLU":
            assert out.tolist() == [[2, 0, 1, -2], [1, 0, 1, 1], [2, 0, 2, 1]]  # on paper


def test_swiglu_multiplies_the_bent_copy_with_the_other(tmp_path):
    at = visit("feed-forward", text="the bank refused", feed_forward__bend="SwiGLU")
    build = shown(at, "script")[0].__closure__
    arrays = next(cell.cell_contents for cell in build if isinstance(cell.cell_contents, dict))
    gate, linear = arrays["x"] @ arrays["w_gate"], arrays["x"] @ arrays["w_in"]
    np.testing.assert_allclose(drawn(at, "1"), gate, atol=1e-12)
    np.testing.assert_allclose(drawn(at, "2"), bend("SiLU", gate) * linear, atol=1e-12)
    np.testing.assert_allclose(drawn(at, "3"), bend("SiLU", gate) * linear @ arrays["w_out"], atol=1e-12)


def test_the_two_forms_of_gelu_differ_by_what_is_published():
    at = visit("feed-forward", feed_forward__bend="GELU, exact")
    gap = picture(at, "GELU: how far").spec["data"][0]
    assert abs(gap["y"]).max() == pytest.approx(4.7324e-4, abs=2e-8)
    assert abs(gap["x"][abs(gap["y"]).argmax()]) == pytest.approx(2.70, abs=0.03)
    curve = picture(at, "GELU, exact and its slope").spec["data"][0]
    assert min(curve["y"]) == pytest.approx(-0.16997, abs=1e-5)
    assert np.interp(1, curve["x"], curve["y"]) == pytest.approx(0.8413447, abs=1e-7)


def test_a_changed_token_moves_its_own_row_alone():
    at = visit("feed-forward", text="a b c d e", feed_forward__changed="1 · b")
    moved = picture(at, "How far each row").spec["data"][0]["y"]
    assert moved[1] > 0 and (np.delete(moved, 1) == 0).all()


# --------------------------------------------------------------------------------------------------------------- block


def test_the_decoder_block_comes_out_as_worked(worked):
    at = visit("block")
    np.testing.assert_allclose(titled(at, "stream out"), worked["decoder_block"]["output"], atol=6e-9)


def test_the_stream_of_nasi_has_the_published_lengths(worked):
    at = visit("block", block__example="Characters: nasi␣", block__view="what was written")
    assert widget(at, "block.example").value == 1
    bars = {trace["name"]: trace["y"][-1] for trace in picture(at, "Length of each").spec["data"]}
    given = worked["nasi_forward"]["residual_norms_last_token"]
    assert bars == pytest.approx({"stream in": given["embedding"], "attention writes": given["attention writes"],
                                  "feed-forward writes": given["mlp writes"]}, abs=1e-8)
    (sentence,) = [line for line in shown(at, "say") if line.startswith("The last token: ")]
    assert re.findall(r"\*\*(\d\.\d+)\*\*", sentence) == ["0.443", "0.281", "0.868"]


@pytest.mark.parametrize("pre", [True, False], ids=["pre", "post"])
@pytest.mark.parametrize("norm", ["LayerNorm", "RMSNorm", "none"])
@pytest.mark.parametrize("residual, causal", [(True, True), (False, True), (True, False)], ids=["", "no residual", "no mask"])
def test_every_kind_of_block_is_what_the_formula_says(pre, norm, residual, causal):
    at = visit("block", block__norm_position="pre" if pre else "post", block__norm=norm, block__residual=str(residual).lower(),
               block__causal=str(causal).lower())
    rule = {"LayerNorm": layer_norm, "RMSNorm": lambda x: rms_norm(x, 1e-6), "none": lambda x: x}[norm]
    expected = block(drawn(at, "stream in"), examples.block_params(), 4, pre=pre, norm=rule, residual=residual, causal=causal)
    for title, numbers in expected.items():
        np.testing.assert_allclose(titled(at, title), numbers, atol=1e-9)


@pytest.mark.parametrize("other, changed", [("the norm elsewhere", {"pre": False}), ("the residual stream switched", {"residual": False}),
                                            ("the causal mask switched", {"causal": False})])
def test_the_difference_picture_is_the_difference_of_two_runs(other, changed):
    x = drawn(visit("block"), "stream in")
    at = visit("block", block__view="side by side", block__other=other)
    rival, ours = (block(x, examples.block_params(), 4, **how)["stream out"] for how in (changed, {}))
    np.testing.assert_allclose(drawn(at, f"stream out, {other}"), rival, atol=1e-9)
    np.testing.assert_allclose(drawn(at, "minus"), rival - ours, atol=1e-9)
    (sentence,) = [line for line in shown(at, "say") if line.startswith("The largest difference")]
    assert f"**{abs(rival - ours).max():.4g}**" in sentence


def test_the_shares_sum_to_the_length_of_the_stream():
    out = titled(visit("block"), "stream out")
    at = visit("block", block__view="what was written")
    shares = [trace["y"] for trace in picture(at, "What each makes").spec["data"]]
    np.testing.assert_allclose(sum(shares), np.linalg.norm(out, axis=1), rtol=1e-9)


def test_a_stack_without_residuals_loses_what_came_in():
    at = visit("block", text="the bank refused the loan", block__view="many blocks", block__n_layers=24)
    likeness = {trace["name"]: trace["y"] for trace in picture(at, "How much it still").spec["data"]}
    assert all(len(values) == 25 and values[0] == pytest.approx(1) for values in likeness.values())
    assert likeness["pre-norm"][1] > abs(likeness["pre-norm, no residuals"][1])


def test_the_gradient_that_reaches_the_first_block_is_the_finite_difference_of_the_stack():
    from core import block, draws, experiments

    rng = np.random.default_rng(5)
    x, d_out, way = rng.normal(size=(3, 8)), rng.normal(size=(3, 8)), rng.normal(size=(3, 8))
    layers = [draws.block_params(7, i, 8, 32) for i in range(4)]
    for name, choices in (("pre-norm", {}), ("post-norm", {"norm_position": "post"}), ("pre-norm, no residuals", {"residual": False})):
        for depth in (0, 1, 4):
            def end(shift, layers=layers[4 - depth:], choices=choices):
                ran = block.stack(x + shift * way, layers, 2, activation="gelu_tanh", **choices)
                return float(((ran[-1].resid_post if ran else x + shift * way) * d_out).sum())

            # along any way the gradient's share is the slope; its length is that of the gradient itself, taken feature by feature
            slopes = np.zeros((3, 8))
            for place in np.ndindex(3, 8):
                way[...] = 0
                way[place] = 1
                slopes[place] = (end(1e-5) - end(-1e-5)) / 2e-5
            run = experiments.through_depth(x, layers[4 - depth:], 2, activation="gelu_tanh", d_out=d_out)[name]
            assert run.gradient[-1] == pytest.approx(np.linalg.norm(slopes, axis=1).mean(), rel=1e-6) and len(run.gradient) == depth + 1


def test_with_residuals_the_gradient_keeps_its_size_through_many_blocks():
    at = visit("block", block__view="many blocks", block__n_layers=24)
    gradient = {trace["name"]: trace["y"] for trace in picture(at, "Mean length of the gradient").spec["data"]}
    assert len({values[0] for values in gradient.values()}) == 1 and all(len(values) == 25 for values in gradient.values())
    ratio = {name: values[-1] / values[0] for name, values in gradient.items()}
    assert abs(np.log10(ratio["pre-norm"])) < abs(np.log10(ratio["pre-norm, no residuals"]))


# ------------------------------------------------------------------------------------------------- encoder and decoder


def encoder_decoder_by_hand(arrays):
    """The three patterns of the first layer, from the formulas."""
    w_embed, d = arrays["params"]["w_embed"], arrays["params"]["w_embed"].shape[1]

    def embed(ids):
        waves = [[math.sin(p / 10000 ** (i / d)) if i % 2 == 0 else math.cos(p / 10000 ** ((i - 1) / d)) for i in range(d)]
                 for p in range(len(ids))]
        return w_embed[ids] * math.sqrt(d) + waves

    heads = arrays["n_heads"]
    source, target = embed(arrays["source_ids"]), embed(arrays["target_ids"])
    (layer,), (decoder,) = arrays["params"]["encoder"], arrays["params"]["decoder"]
    written, encoder = attend(source, source, layer["attention"]["w_qkv"], layer["attention"]["w_o"], heads, False)
    mid = layer_norm(source + written)
    memory = layer_norm(mid + bend("ReLU", mid @ layer["feed_forward"]["w_in"]) @ layer["feed_forward"]["w_out"])
    written, own = attend(target, target, decoder["self_attention"]["w_qkv"], decoder["self_attention"]["w_o"], heads, True)
    mid = layer_norm(target + written)
    written, cross = attend(mid, memory, decoder["cross_attention"]["w_qkv"], decoder["cross_attention"]["w_o"], heads, False)
    mid = layer_norm(mid + written)
    out = layer_norm(mid + bend("ReLU", mid @ decoder["feed_forward"]["w_in"]) @ decoder["feed_forward"]["w_out"])
    return encoder, own, cross, softmax_rows(out @ w_embed.T)


@pytest.mark.parametrize("text", ["", "a b <b> a"], ids=["preset", "own"])
def test_the_three_patterns_are_what_the_formulas_say(text):
    at = visit("encoder-decoder", text=text, encoder_decoder__n_layers=1, encoder_decoder__head="head 1")
    build = shown(at, "script")[0].__closure__
    arrays = next(cell.cell_contents for cell in build if isinstance(cell.cell_contents, dict))
    encoder, own, cross, probs = encoder_decoder_by_hand(arrays)
    np.testing.assert_allclose(drawn(at, "Encoder"), encoder[1], atol=1e-9)
    np.testing.assert_allclose(drawn(at, "Decoder"), own[1], atol=1e-9)
    np.testing.assert_allclose(drawn(at, "Cross"), cross[1], atol=1e-9)
    np.testing.assert_allclose(picture(at, "Next token").spec["data"][0]["y"], probs[-1], atol=1e-9)


def test_the_rows_of_cross_attention_are_the_target_and_its_columns_the_source():
    at = visit("encoder-decoder", text="one two three four five", encoder_decoder__target="eins zwei")
    cross = picture(at, "Cross").matrix
    assert (cross.rows, cross.columns) == (["<start>", "eins", "zwei"], ["one", "two", "three", "four", "five"])
    layout = picture(at, "Cross").spec["layout"]
    assert "target" in layout["yaxis"]["title"]["text"] and "source" in layout["xaxis"]["title"]["text"]
    np.testing.assert_allclose(cross.values.sum(axis=1), 1, atol=1e-12)
    assert (cross.values > 0).all()  # no causal mask
    assert (np.triu(drawn(at, "Decoder"), 1) == 0).all()


def test_a_changed_source_word_reaches_every_output_of_the_decoder():
    moved = picture(visit("encoder-decoder"), "How far each decoder output").spec["data"][0]["y"]
    assert (moved > 1e-6).all()


def test_the_families_see_what_they_are_said_to_see():
    at = visit("encoder-decoder", text="a b", encoder_decoder__target="c", encoder_decoder__view="three families")
    (each,) = [each for each in pictures(at) if each.key == "chart.encoder_decoder.families"] or [pictures(at)[-1]]
    seen = [np.where(np.isnan(trace["z"]), 0, trace["z"]) for trace in each.spec["data"] if trace["type"] == "heatmap"]
    both = [one + other for one, other in zip(seen[::2], seen[1::2], strict=True)]
    assert both[0].tolist() == np.ones((4, 4)).tolist() and both[1].tolist() == np.tri(4).tolist()
    assert both[2].tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]


def test_what_the_decoder_wrote_is_cleaned_and_cut_with_a_sentence():
    at = visit("encoder-decoder", encoder_decoder__target="\x00 " + "w " * 100)
    said = " ".join(shown(at, "remark"))
    assert "invisible control character" in said and "The first 40 are shown" in said
    assert picture(at, "Decoder").matrix.values.shape == (40, 40)


# ------------------------------------------------------------------------------------------------ what all four pages do

STAGES = [("normalisation", "LayerNorm", "out", "LayerNorm(x)"), ("normalisation", "RMSNorm", "out", "RMSNorm(x)"),
          ("feed-forward", "widen", "hidden_pre", "1"), ("feed-forward", "bend", "hidden_post", "2"),
          ("feed-forward", "narrow", "out", "3"),
          ("block", "norm 1", "out", "what attention"), ("block", "attention", "out", "attention writes"),
          ("block", "between", "resid_mid", "stream between"), ("block", "norm 2", "out", "what feed"),
          ("block", "feed-forward", "out", "feed-forward writes"), ("block", "out", "resid_post", "stream out"),
          ("encoder-decoder", "cross", "pattern", "Cross"), ("encoder-decoder", "decoder", "pattern", "Decoder"),
          ("encoder-decoder", "encoder", "pattern", "Encoder")]


def number_in(at, title, row, column):
    """The number drawn in a cell of the first picture whose title starts like this."""
    return next(each for each in pictures(at) if each.title.startswith(title)).matrix.values[row, column]


@pytest.mark.parametrize("text", ["", "the bank refused the loan"], ids=["preset", "own"])
@pytest.mark.parametrize("url, stage, name, title", STAGES, ids=str)
def test_the_sum_behind_a_cell_comes_to_the_number_drawn_in_it(url, stage, name, title, text):
    at = set_to(visit(url, text=text), url, stage=stage)
    for row, column in ((0, 0), (2, 1)):
        cell, value = recomputed(panel(set_to(at, url, row=row, column=column)))[-1]
        number = number_in(at, title, row, column)
        assert cell == f"{name}[{row}, {column}]"
        assert abs(value - number) <= 1e-9 * max(1, abs(number))


MORE = [("feed-forward", {"bend": bend_name}, stage, title) for bend_name in ("GELU, exact", "GELU, tanh form", "SiLU", "SwiGLU")
        for stage, title in (("bend", "2"), ("narrow", "3"))]
MORE += [("block", {"norm_position": "post", "norm": norm, "residual": residual}, stage, title) for norm in ("LayerNorm", "RMSNorm", "none")
         for residual in (True, False) for stage, title in (("between", "stream between"), ("norm 2", "what feed"), ("out", "stream out"))]
MORE += [("normalisation", {"eps": 0.0}, "LayerNorm", "LayerNorm(x)"), ("normalisation", {"eps": 0.0}, "RMSNorm", "RMSNorm(x)")]


@pytest.mark.parametrize("url, settings, stage, title", MORE, ids=str)
def test_the_sum_follows_the_settings(url, settings, stage, title):
    at = set_to(visit(url), url, **settings, stage=stage, row=2, column=3)
    cell, value = recomputed(panel(at))[-1]
    assert abs(value - number_in(at, title, 2, 3)) <= 1e-9 * max(1, abs(value)), cell


@pytest.mark.parametrize("asked", [{}, {"text": NASTY}, {"text": "alone"}], ids=["preset", "nasty", "one word"])
def test_the_scripts_print_the_pages(asked, tmp_path):
    at = visit("normalisation", **asked)
    agree(script_prints(at, tmp_path), {"LayerNorm": drawn(at, "LayerNorm(x)"), "RMSNorm": drawn(at, "RMSNorm(x)"),
                                        "batch statistics": drawn(at, "Batch")})
    at = visit("feed-forward", feed_forward__bend="GELU, exact", **asked)
    agree(script_prints(at, tmp_path), {"hidden_pre": drawn(at, "1"), "hidden_post": drawn(at, "2"), "out": drawn(at, "3")})
    at = visit("block", block__norm_position="post", **asked)
    agree(script_prints(at, tmp_path), {"attn_out": drawn(at, "attention writes"), "resid_mid": drawn(at, "stream between"),
                                        "ff_out": drawn(at, "feed-forward writes")})
    at = visit("encoder-decoder", encoder_decoder__norm_position="pre", encoder_decoder__layer="layer 1", **asked)
    agree(script_prints(at, tmp_path), {"encoder": drawn(at, "Encoder"), "decoder": drawn(at, "Decoder"), "cross": drawn(at, "Cross"),
                                        "next token": picture(at, "Next token").spec["data"][0]["y"]})


def labels_of(figure):
    return [note["text"] for note in figure["layout"]["annotations"]]


def test_the_drawing_of_a_block_carries_the_shapes_of_the_arrays():
    at = visit("block", text="a b c", block__d_model=8, block__n_heads=4)
    drawing = pictures(at)[0].spec
    assert drawn(at, "stream in").shape == (3, 8) and labels_of(drawing).count("3 × 8") >= 6
    assert {"<b>Attention</b><br>pattern 4 × 3 × 3", "<b>Feed-forward</b><br>inside 3 × 32"} <= set(labels_of(drawing))


def test_the_drawing_of_the_architecture_carries_the_shapes_of_the_arrays():
    at = visit("encoder-decoder", text="a b c d e", encoder_decoder__target="f g", encoder_decoder__d_model=16, encoder_decoder__n_layers=3)
    texts = labels_of(pictures(at)[0].spec)
    assert texts.count("5 × 16") == 2 and texts.count("3 × 16") == 1 and texts.count("<b>× 3</b>") == 2
    assert len(picture(at, "Next token").spec["data"][0]["y"]) == 8 and texts.count("3 × 8") == 1


@pytest.mark.parametrize("make", [
    lambda position: architecture.block({"stream": (2, 4), "attention": (1, 2, 2), "hidden": (2, 16)}, norm_position=position),
    lambda position: architecture.encoder_decoder(dict.fromkeys(("source", "memory", "target", "logits"), (2, 4)), 1,
                                                  norm_position=position)])
@pytest.mark.parametrize("position", ["pre", "post"])
def test_every_box_that_leads_somewhere_leads_to_a_page(make, position):
    figure, links = make(position)
    boxes = figure.spec["data"][0]
    assert boxes["name"] == "boxes" and len(boxes["x"]) == len(links)
    assert {link for link in links if link} <= {lesson.url for lesson in syllabus.LESSONS}
    assert sum(map(bool, links)) >= 4


def test_heads_that_do_not_fit_are_not_offered():
    at = visit("block", text="a", block__n_heads=3)
    assert not at.exception and any("block.n_heads" in line for line in at.text[0].value.split("\n"))
