"""Parts of a model that open at a click, and a pasted file that a link carries: what needs a real browser."""

from urllib.parse import parse_qs, urlsplit

from tests.browser.reading import linked

ROW = """([chart, row, along]) => { const plot = document.querySelector(chart + ' .js-plotly-plot');
  plot.scrollIntoView({block: 'center'});
  const box = plot.getBoundingClientRect(), x = plot._fullLayout.xaxis, y = plot._fullLayout.yaxis;
  const rows = plot.data.find(trace => trace.name == 'rows');
  return [box.left + x._offset + along * x._length, box.top + y._offset + y.l2p(rows.y[row])]; }"""
FILE = ('{"model_type": "llama", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, '
        '"intermediate_size": 16, "hidden_act": "silu", "<b>![x](http://evil.example/a.png)": 3}')


def test_a_click_anywhere_beside_a_bar_opens_its_part_and_a_link_carries_what_was_pasted(visitor):
    visitor.open("parameters")
    for row, along, opened in ((2, 0.95, "final norm"), (None, 0, None), (1, 0.02, "all blocks"), (0, 0.6, "all blocks › attention"),
                               (0, 0.5, "all blocks › attention › w_qkv")):
        if row is None:
            visitor.page.get_by_role("button", name="One level up").click()
        else:
            visitor.page.mouse.click(*visitor.page.evaluate(ROW, [visitor.where("parameters.bars"), row, along]))
        visitor.settle()
        assert visitor.address().get("parameters.open") == opened
    assert "2 × 12,288 = 24,576" in visitor.arithmetic()
    visitor.open(linked("parameters", view="12 · d²"))
    visitor.page.mouse.click(*visitor.page.evaluate(ROW, [visitor.where("parameters.listed"), 0, 0.95]))
    visitor.settle()
    assert visitor.address().get("parameters.sum_of") == "tinyllama-1.1b" and "tinyllama-1.1b: one block" in visitor.arithmetic()
    visitor.open(linked("parameters", what="a pasted config.json"))
    field = visitor.page.get_by_role("textbox", name="Paste a Hugging Face config.json")
    field.fill(FILE)
    field.press("Control+Enter")
    visitor.settle()
    (kept,) = parse_qs(urlsplit(visitor.page.url).query)["parameters.config"]
    total = 2 * 10 * 8 + (8 * 24 + 8 * 8 + 3 * 8 * 16 + 2 * 8) + 8  # two tables; one block; the last norm
    assert "evil" not in kept and f"{total:,} (" in visitor.text()
    visitor.page.reload()
    visitor.settle()
    assert field.input_value() == kept and f"{total:,} (" in visitor.text()
    assert visitor.errors == [] and visitor.outside == []
