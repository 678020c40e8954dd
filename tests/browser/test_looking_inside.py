"""The page that looks inside trained models, in a real browser: a clicked cell of either model, its address, and the script."""

from tests.browser.reading import close, far, linked, worked
from tests.browser.test_download import ran


def test_a_cell_of_the_trained_and_of_the_random_model_shows_its_sum_and_the_script_prints_the_same(visitor, elsewhere, tmp_path):
    visitor.open("looking-inside")
    visitor.click_cell("looking_inside.one.trained", 10, 8)
    value, _ = worked(visitor.arithmetic())
    assert visitor.picked() == (10, 8) and close(value, visitor.numbers("looking_inside.one.trained")[10][8])
    assert far(dict(ran(visitor, tmp_path))["pattern of block 1 head 1"], visitor.numbers("looking_inside.one.trained")) <= 1e-9
    visitor.click_cell("looking_inside.all.random", 9, 4, axes="3")  # the third of its heads
    assert visitor.address()["looking_inside.weights"] == "random" and visitor.address()["looking_inside.head"] == "block 0 head 2"
    assert close(worked(visitor.arithmetic())[0], visitor.numbers("looking_inside.one.random")[9][4])
    elsewhere.open(visitor.page.url)
    assert (elsewhere.picked(), elsewhere.arithmetic()) == (visitor.picked(), visitor.arithmetic()) and elsewhere.picked() == (9, 4)
    assert visitor.errors == elsewhere.errors == [] == visitor.exceptions()


def test_a_head_that_is_switched_off_stands_in_the_address_and_odd_words_are_harmless(visitor):
    visitor.open(linked("looking-inside", view="switch heads off"))
    visitor.switch("Block 1 head 1")
    assert visitor.address()["looking_inside.on_1_1"] == "false"
    all_on, switched, *_, without, _ = visitor.drawn("looking_inside.accuracy")[0]["y"]
    assert switched == without < all_on  # one head off: the same as its own bar
    visitor.type_into("Or your own text, in this model's words", "![x](http://evil.example/a.png) <b>")
    assert ["“Or your own text, in this model's words” can't be read" in remark for remark in visitor.remarks()] == [True]
    assert 'Not in the vocabulary: "![x](http://evil.example/a.png)", "<b>"' in visitor.text()
    assert visitor.exceptions() == visitor.errors == visitor.outside == []
