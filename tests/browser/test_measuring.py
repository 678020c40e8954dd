"""Measuring in a real browser: it begins when asked, ends by itself, and draws its times; a click on a curve and a bar moves the page."""

from tests.browser.reading import linked, worked


def test_times_are_measured_when_asked_and_the_measuring_ends(visitor):
    visitor.open(linked("memory-and-compute", view="attention and recurrence"))
    assert "Nothing is measured yet." in visitor.text()
    visitor.page.get_by_role("button", name="Measure", exact=True).click()
    visitor.page.get_by_text("Measured: ").wait_for(timeout=60_000)
    visitor.settle()
    traces = {trace["name"]: trace for trace in visitor.drawn("memory_and_compute.times")}
    for kind in ("attention", "recurrence"):
        times = traces[f"{kind}, measured"]["y"]
        assert len(times) == 7 and min(times) > 0
    assert visitor.page.get_by_role("button", name="Stop", exact=True).is_disabled()
    assert set(visitor.address()) == {"memory_and_compute.view"}  # what was measured is not in the address
    assert worked(visitor.arithmetic())[0] == 50 * 50 * 512
    visitor.choose("memory")
    parts = visitor.page.locator(f"{visitor.where('memory_and_compute.memory')} .trace.bars").nth(1).locator(".point path")
    visitor.page.locator(visitor.where("memory_and_compute.memory")).evaluate("chart => chart.scrollIntoView({block: 'center'})")
    box = next(box for box in (path.bounding_box() for path in parts.all()) if box and box["width"] > 1)  # the first bar with gradients
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    visitor.page.mouse.move(*middle)
    visitor.page.mouse.click(*middle)
    visitor.settle()
    assert visitor.address()["memory_and_compute.memory_number"] == "learn, float32: gradients"
    assert worked(visitor.arithmetic())[0] == 4 * 8030261248 / 2**30
    assert visitor.exceptions() == visitor.errors == []
