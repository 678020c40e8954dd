"""The script that a page gives away prints the numbers that the page draws."""

import subprocess
import sys

import pytest

from tests.browser.reading import far, linked, printed

SENTENCE = r"""it's a "quoted" \n ''' <b> { \"\"\" # %d"""


def ran(visitor, folder):
    """Download the page's script, run it away from the project, and return what it printed."""
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="Download this page as a script").click()
    script = folder / download.value.suggested_filename
    download.value.save_as(script)
    done = subprocess.run([sys.executable, "-I", "-W", "error", script.name], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return printed(done.stdout)


def test_attention_with_an_own_sentence_then_with_edited_numbers(visitor, tmp_path):
    visitor.open(linked("attention", text=SENTENCE, edit="true", x="1 0 1 0.125; 0 1 0 1; 1 1 0 -3.5"))
    for words in (SENTENCE, ""):
        visitor.type_sentence(words)
        numbers = dict(ran(visitor, tmp_path))
        for name, picture in (("raw_scores", "compare"), ("scores", "scale"), ("pattern", "normalise"), ("mixed", "mix")):
            assert far(numbers[name], visitor.numbers(f"attention.{picture}")) <= 1e-9
    assert far(numbers["pattern"], visitor.numbers("attention.normalise")) <= 1e-9
    assert visitor.errors == []


def test_queries_keys_values(visitor, tmp_path):
    visitor.open(linked("queries-keys-values", text=SENTENCE, d_model=16, d_head=8))
    numbers = dict(ran(visitor, tmp_path))
    assert far(numbers["raw_scores"], visitor.numbers("queries_keys_values.qk")) <= 1e-9
    for stage in ("query", "key", "value"):
        visitor.choose(stage)
        assert far(numbers[stage[0]], visitor.numbers(f"queries_keys_values.{stage[0]}")) <= 1e-9


def test_scaling(visitor, tmp_path):
    visitor.open(linked("scaling", scores="3 -1 0.5", temperature=0.5))
    numbers = ran(visitor, tmp_path)
    assert far(dict(numbers)["slopes"], visitor.numbers("scaling.slopes")) <= 1e-9
    assert far(dict(numbers)["weights"], [visitor.drawn("scaling.bars")[0]["y"]]) <= 1e-9
    rows = [rows[0] for name, rows in numbers if name.startswith("d,")]
    table = visitor.page.locator('[data-testid="stMarkdown"] table').first.locator("tbody tr").all_inner_texts()
    assert [f"{d:.0f}\t{std:.1f}\t{top:.2f}\t{even:.2f}" for d, std, top, even in rows] == table


@pytest.mark.parametrize("settings", [{"text": SENTENCE, "mask": "padding", "boost": 10}, {"mask": "blind row"}],
                         ids=["own sentence, padding, boost", "blind row"])
def test_causal_mask(visitor, tmp_path, settings):
    visitor.open(linked("causal-mask", **settings))
    numbers = dict(ran(visitor, tmp_path))
    assert far(numbers["scores"], visitor.behind("causal_mask.scores")) <= 1e-9
    assert far(numbers["pattern"], visitor.numbers("causal_mask.before")) <= 1e-9
    assert far(numbers["zeroed"], visitor.numbers("causal_mask.zeroed")) <= 1e-9
    sums = ", ".join(f"{total:.3f}" for total in numbers["zeroed_sums"][0][:8])
    assert f"Row sums when the hidden weights are zeroed after the softmax: {sums}" in visitor.text()


@pytest.mark.parametrize("settings", [{}, {"text": SENTENCE, "n_heads": 4, "head": "head 3"}], ids=["the example", "own, four heads"])
def test_many_heads(visitor, tmp_path, settings):
    visitor.open(linked("many-heads", **settings))
    numbers = dict(ran(visitor, tmp_path))
    head = settings.get("head", "head 0")
    for each in range(settings.get("n_heads", 2)):
        assert far(numbers[f"pattern of head {each}"], visitor.numbers(f"many_heads.pattern.{each}")) <= 1e-9
    assert far(numbers[f"head_out of {head}"], visitor.numbers("many_heads.share")) <= 1e-9
    assert far(numbers["out"], visitor.numbers("many_heads.out")) <= 1e-9


@pytest.mark.parametrize(("page", "settings", "pictures"), [
    ("normalisation", {"eps": "0.001", "factor": "10"}, {"LayerNorm": "layer", "RMSNorm": "rms", "batch statistics": "batch"}),
    ("feed-forward", {"bend": "SwiGLU"}, {"hidden_pre": "widen", "hidden_post": "bend", "out": "narrow"}),
    ("block", {"norm_position": "post", "norm": "RMSNorm"}, {"attn_out": "attention", "resid_mid": "between", "resid_post": "out"}),
    ("forward-pass", {"stage": "logits", "n_heads": 4}, {"logits": "array"}),
    ("encoder-decoder", {"target": SENTENCE, "n_heads": 4, "head": "head 2"}, {"encoder": "encoder", "decoder": "decoder",
                                                                            "cross": "cross"})])
def test_the_pages_of_the_block(visitor, tmp_path, page, settings, pictures):
    visitor.open(linked(page, text=SENTENCE, **settings))
    numbers = dict(ran(visitor, tmp_path))
    for name, picture in pictures.items():
        assert far(numbers[name], visitor.numbers(f"{page.replace('-', '_')}.{picture}")) <= 1e-9
