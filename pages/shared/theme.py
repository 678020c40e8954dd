"""Colours, scales and sizes: the same quantity looks the same on every page, in light and in dark."""

from typing import NamedTuple


class Palette(NamedTuple):
    """What a figure needs to know about the page it stands on."""

    text: str    # at least 4.5:1 on the background
    quiet: str   # grid and box lines
    mark: str    # the clicked cell
    first: str   # curves, in this order; told apart by dash as well
    second: str
    third: str
    fill: str    # boxes of a drawing


LIGHT = Palette("#1f2933", "#b8c0c8", "#c2410c", "#1d4ed8", "#b45309", "#047857", "#e8eef7")
DARK = Palette("#e5e9ee", "#5b6672", "#fb923c", "#93b4ff", "#fbbf24", "#34d399", "#1c2736")

# Both scales rise evenly in lightness, so that they can be read in grey and by the colour-blind.
SHARE = ((0.0, "#440154"), (0.125, "#472d7b"), (0.25, "#3b528b"), (0.375, "#2c728e"), (0.5, "#21918c"), (0.625, "#28ae80"),
         (0.75, "#5ec962"), (0.875, "#addc30"), (1.0, "#fde725"))  # Viridis: weights, 0 to 1
SIGNED = ((0.0, "#0a2463"), (0.25, "#2f6db5"), (0.5, "#9aa3ad"), (0.75, "#f2b15a"), (1.0, "#fff4d2"))  # below 0 blue, 0 grey, above amber

FONT = "Source Sans, sans-serif"
FONT_SIZE = 13


def palette(dark):
    """The palette for a dark or a light page."""
    return DARK if dark else LIGHT


def luminance(colour):
    """Relative luminance of "#rrggbb", 0 to 1, as the WCAG define it.

    >>> luminance("#ffffff")
    1.0
    """
    def linear(channel):
        return channel / 12.92 if channel <= 0.03928 else ((channel + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[i:i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """WCAG contrast ratio of two colours, 1 to 21.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colour_at(scale, share):
    """The colour of a scale at `share` of its length, 0 to 1, as "#rrggbb".

    >>> colour_at(((0.0, "#000000"), (1.0, "#ffffff")), 0.2)
    '#333333'
    """
    share = min(max(share, 0.0), 1.0)
    for (low, before), (high, after) in zip(scale, scale[1:], strict=False):
        if share <= high:
            part = (share - low) / (high - low)
            channels = (round(int(before[i:i + 2], 16) * (1 - part) + int(after[i:i + 2], 16) * part) for i in (1, 3, 5))
            return "#" + "".join(f"{channel:02x}" for channel in channels)
    return scale[-1][1]


def turning_point(scale):
    """Where along a scale that rises in lightness black type becomes easier to read than white.

    >>> turning_point(((0.0, "#000000"), (1.0, "#ffffff")))
    0.47
    """
    colours = [colour_at(scale, i / 100) for i in range(101)]
    return next(i / 100 for i, colour in enumerate(colours) if contrast(colour, "#000000") >= contrast(colour, "#ffffff"))
