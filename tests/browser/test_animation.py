"""The softmax that moves in the browser, without the server."""

import pytest

from tests.browser.reading import far, linked, softmax

SCORES = [2.0, 1.0, 0.5, -1.0]


def slide(visitor, label):
    """Click on one of the stops of the slider in the picture, by its place on the rail."""
    spot = visitor.page.evaluate("""([chart, label]) => { const picture = document.querySelector(chart);
        picture.scrollIntoView({block: 'center'});
        const stops = picture.querySelector('.js-plotly-plot')._fullLayout.sliders[0].steps.map(step => step.label);
        const box = picture.querySelectorAll('.slider-tick-rect')[stops.indexOf(label)].getBoundingClientRect();
        const rail = picture.querySelector('.slider-rail-rect').getBoundingClientRect();
        return [box.left + box.width / 2, rail.top + rail.height / 2]; }""", [visitor.where("scaling.bars"), label])
    visitor.page.mouse.click(*spot)
    return visitor.settle()


@pytest.mark.parametrize("scores", [SCORES, [0.0, 5.0]], ids=["the example", "own scores"])
def test_the_slider_moves_the_bars_to_the_softmax_without_a_word_to_the_server(visitor, scores):
    visitor.open(linked("scaling", scores=" ".join(map(str, scores))))
    sent, foot = len(visitor.sent), visitor.arithmetic()
    assert far([visitor.drawn("scaling.bars")[0]["y"]], [softmax(scores)]) < 1e-12
    for temperature in ("0.05", "20", "0.5"):
        slide(visitor, temperature)
        assert far([visitor.drawn("scaling.bars")[0]["y"]], [softmax(scores, float(temperature))]) < 1e-12
        assert visitor.page.locator(f"{visitor.where('scaling.bars')} text.slider-label").first.text_content() == f"T = {temperature}"
    assert len(visitor.sent) == sent
    assert visitor.arithmetic() == foot
    assert visitor.errors == []


def test_the_drawn_bars_have_the_height_of_their_weights(visitor):
    visitor.open("scaling")
    slide(visitor, "2")
    bars = visitor.page.locator(f"{visitor.where('scaling.bars')} .bars .point path")
    heights = bars.evaluate_all("bars => bars.map(bar => bar.getBBox().height)")
    weights = softmax(SCORES, 2.0)
    assert [height / heights[0] for height in heights] == pytest.approx([weight / weights[0] for weight in weights], abs=0.02)


def test_play_runs_through_all_temperatures_in_the_browser(visitor):
    visitor.open("scaling")
    sent = len(visitor.sent)
    visitor.page.locator(f"{visitor.where('scaling.bars')} .updatemenu-button").click()
    visitor.page.wait_for_function("""chart => document.querySelector(chart + ' .js-plotly-plot')._fullLayout.sliders[0].active === 12""",
                                   arg=visitor.where("scaling.bars"), polling=100)
    visitor.settle()
    assert far([visitor.drawn("scaling.bars")[0]["y"]], [softmax(SCORES, 20.0)]) < 1e-9
    assert len(visitor.sent) == sent
