"""Colours: readable in both themes, and even in lightness, so that no picture needs colour vision."""

import itertools
import tomllib

import numpy as np
import pytest

from pages.shared import theme
from tests.page_tools import ROOT, colour_on, contrast, luminance

CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
BOTH = [(theme.palette(name == "dark"), CONFIG[name]) for name in ("light", "dark")]
each_theme = pytest.mark.parametrize("palette, page", BOTH, ids=["light", "dark"])


def test_the_two_themes_are_both_defined_and_differ():
    assert theme.palette(False) == theme.LIGHT and theme.palette(True) == theme.DARK and theme.LIGHT != theme.DARK
    assert CONFIG["light"].keys() == CONFIG["dark"].keys()


@each_theme
def test_type_in_figures_can_be_read_on_every_ground(palette, page):
    for ground in (page["backgroundColor"], page["secondaryBackgroundColor"], palette.fill):
        assert contrast(palette.text, ground) >= 4.5


@each_theme
def test_type_and_links_on_the_page_can_be_read(palette, page):
    for colour, ground in itertools.product((page["textColor"], page["linkColor"]),
                                            (page["backgroundColor"], page["secondaryBackgroundColor"])):
        assert contrast(colour, ground) >= 4.5


@each_theme
def test_the_accent_can_be_read_as_type(palette, page):
    """The pressed one of a row of buttons has its word in the accent. A main button would write white on it: none is used."""
    assert contrast(page["primaryColor"], page["backgroundColor"]) >= 4.5
    assert not [path for path in (ROOT / "pages").rglob("*.py") if 'type="primary"' in path.read_text(encoding="utf-8")]


@each_theme
def test_lines_and_frames_stand_out_from_the_page(palette, page):
    for colour in (palette.mark, palette.first, palette.second, palette.third):
        assert contrast(colour, page["backgroundColor"]) >= 3


@each_theme
def test_figures_use_the_type_colour_of_the_page(palette, page):
    assert palette.text == page["textColor"]


@pytest.mark.parametrize("scale", [theme.SHARE, theme.SIGNED], ids=["share", "signed"])
def test_a_colour_scale_rises_in_lightness_all_the_way(scale):
    rising = [luminance(colour_on(scale, share)) for share in np.linspace(0, 1, 101)]
    assert all(np.diff(rising) > 0)
    assert [stop for stop, _ in scale] == sorted({stop for stop, _ in scale}) and scale[0][0] == 0 and scale[-1][0] == 1


@pytest.mark.parametrize("scale", [theme.SHARE, theme.SIGNED], ids=["share", "signed"])
def test_the_ends_of_a_scale_are_far_apart_and_nothing_is_pure_black(scale):
    assert contrast(scale[0][1], scale[-1][1]) >= 7
    assert not any(colour.lower().startswith("#0000") for _, colour in scale)


@pytest.mark.parametrize("scale", [theme.SHARE, theme.SIGNED], ids=["share", "signed"])
def test_black_type_takes_over_where_it_becomes_easier_to_read(scale):
    turn = theme.turning_point(scale)
    for share in np.linspace(0, 1, 101).round(2):
        black, white = (contrast(colour_on(scale, share), type_colour) for type_colour in ("#000000", "#ffffff"))
        assert (black >= white) == (share >= turn)


@pytest.mark.parametrize("one, other, ratio", [("#000000", "#ffffff", 21), ("#777777", "#ffffff", 4.48), ("#ff0000", "#ffffff", 4.0),
                                               ("#0000ff", "#ffffff", 8.59), ("#123456", "#123456", 1)])
def test_contrast_is_that_of_the_wcag(one, other, ratio):
    assert theme.contrast(one, other) == theme.contrast(other, one) == pytest.approx(ratio, abs=0.005)


@pytest.mark.parametrize("scale", [theme.SHARE, theme.SIGNED], ids=["share", "signed"])
@pytest.mark.parametrize("share", [-1, 0, 0.1, 0.25, 0.3, 0.999, 1, 2])
def test_a_colour_between_two_stops_is_their_mixture(scale, share):
    ours, expected = theme.colour_at(scale, share), colour_on(scale, share)
    assert all(abs(int(ours[i:i + 2], 16) - int(expected[i:i + 2], 16)) <= 1 for i in (1, 3, 5))
