"""The drawings of a block, of the 2017 architecture, and of a decoder-only model's arrays.

The first two are read from the bottom up, as the figure of the paper is; each of their boxes has the address of the page that explains
it. The third is read downwards, and its boxes are arrays.
"""

from pages.shared.diagrams import Arrow, Box, flow, wrapped


def times(shape):
    """A shape as words.

    >>> times((3, 16))
    '3 × 16'
    """
    return " × ".join(map(str, shape))


def block(shapes, *, norm_position, residual=True, norm="norm", marked=(), dark=False):
    """One block: what reads the stream and what is added to it.

    shapes   {"stream", "attention", "feed_forward", "hidden"}: the shapes of what flows and of what is written
    marked   the names of the parts to frame
    returns  (figure, [address of the page of each box that opens])
    """
    parts, arrows, links = [], [], []

    def add(heading, x, y, link=None, line="", **more):
        parts.append(Box(heading, line, x, y, opens=link is not None, **more))
        if link is not None:
            links.append(link)
        return len(parts) - 1

    stream, pre, numbers = times(shapes["stream"]), norm_position == "pre", {}
    add("stream in", 0, 10.2, None, plain=True, height=0.5)
    add("stream out", 0, -0.5, None, plain=True, height=0.5)
    below = 9.95  # where the stream's line goes on
    for name, heading, link, low, line in (("attention", "Attention", "many-heads", 9.7, f"pattern {times(shapes['attention'])}"),
                                           ("feed_forward", "Feed-forward", "feed-forward", 4.9, f"inside {times(shapes['hidden'])}")):
        branch, top = low - 0.5, low - (4.2 if pre else 3.0)  # where the way parts, and where it is joined again
        if residual:
            arrows.append(Arrow(((0, below), (0, top + 0.26)), stream if pre else "", "left"))
        else:
            arrows.append(Arrow(((0, below), (0, branch)), "", "left", dashed=True))
        if pre:
            numbers[f"norm_{name}"] = add(norm, 1.7, branch - 0.85, "normalisation", width=1.5, height=0.62)
            arrows.append(Arrow(((0, branch), (1.7, branch), (1.7, branch - 0.54)), stream))
            y = branch - 2.1
            arrows.append(Arrow(((1.7, branch - 1.16), (1.7, y + 0.4)), stream))
        else:
            y = branch - 1.0
            arrows.append(Arrow(((0, branch), (1.7, branch), (1.7, y + 0.4)), stream))
        numbers[name] = add(heading, 1.7, y, link, line, width=1.9, height=0.8)
        arrows.append(Arrow(((1.7, y - 0.4), (1.7, top), (0.2, top)), stream))
        add("+" if residual else "=", 0, top, None, width=0.4, height=0.52)
        below = top - 0.26
        if not pre:
            numbers[f"norm_{name}"] = add(norm, 0, top - 1.0, "normalisation", width=1.5, height=0.62)
            arrows.append(Arrow(((0, below), (0, top - 0.69)), stream))
            below = top - 1.31
    arrows.append(Arrow(((0, below), (0, -0.25)), stream))
    return flow(parts, arrows, title="", marked=tuple(numbers[name] for name in marked), height=560, type_size=12, dark=dark), links


def encoder_decoder(shapes, n_layers, *, norm_position, marked=(), dark=False):
    """The 2017 architecture: the encoder on the left, the decoder on the right.

    shapes   {"source", "memory", "target", "logits"}: the shapes of what flows
    marked   the names of the attentions to frame: "encoder", "decoder", "cross"
    returns  (figure, [address of the page of each box that opens; None: cross-attention, which has no other page])
    """
    parts, arrows, links, numbers = [], [], [], {}
    pre = norm_position == "pre"
    after = "add" if pre else "add & norm"

    def column(x, start, side, steps, shape):
        """Boxes upwards from `start`: each step and the sum after it, with the stream's way round it."""
        y = start
        for name, heading, link in steps:
            edge = x + side * 1.12
            line = "after a norm" if pre else ""
            numbers[name] = len(parts)
            parts.append(Box(heading, line, x, y, 1.9, 0.84))
            parts.append(Box(after, "", x, y - 1.0, 1.9, 0.5))
            links.extend((link, "block" if pre else "normalisation"))
            arrows.append(Arrow(((x, y + 0.75), (x, y + 0.42)), shape if name in ("encoder", "decoder") else "",
                                "right" if side < 0 else "left"))
            arrows.append(Arrow(((x, y - 0.42), (x, y - 0.75))))
            arrows.append(Arrow(((x, y + 0.6), (edge, y + 0.6), (edge, y - 1.0), (x + side * 0.95, y - 1.0))))
            y -= 2.0
        return y

    def ends(x, y, *boxes):
        for heading, link, plain in boxes:
            parts.append(Box(heading, "", x, y, 1.9, 0.5, plain))
            if not plain:
                links.append(link)
            y -= 0.85

    ends(0, 11.6, ("source", "tokens", True), ("embed + position", "embeddings", False))
    ends(2.6, 11.6, ("target so far", "tokens", True), ("embed + position", "embeddings", False))
    arrows += [Arrow(((x, 11.4), (x, 11.0))) for x in (0, 2.6)]
    top = column(0, 9.75, -1, (("encoder", "Self-attention", "attention"), ("encoder ff", "Feed-forward", "feed-forward")),
                 times(shapes["source"]))
    ends_at = column(2.6, 9.75, 1, (("decoder", "Masked self-att.", "causal-mask"), ("cross", "Cross-attention", None),
                                    ("decoder ff", "Feed-forward", "feed-forward")), times(shapes["target"]))
    arrows.append(Arrow(((0, top + 0.75), (0, top), (1.3, top), (1.3, 7.75), (1.65, 7.75)), times(shapes["memory"])))
    parts.append(Box("× w_embedᵀ, softmax", "", 2.6, ends_at - 0.05, 1.9, 0.5))
    links.append("embeddings")
    arrows.append(Arrow(((2.6, ends_at + 0.75), (2.6, ends_at + 0.2))))
    ends(2.6, ends_at - 1.1, ("next token", None, True))
    arrows.append(Arrow(((2.6, ends_at - 0.3), (2.6, ends_at - 0.88)), times(shapes["logits"])))
    for x, y in ((-0.85, top + 0.35), (3.45, ends_at + 0.35)):
        parts.append(Box(f"× {n_layers}", "", x, y, 0.5, 0.4, True))
    return flow(parts, arrows, title="", marked=tuple(numbers[name] for name in marked), height=640, type_size=12, dark=dark), links


PLACES = {"token ids": (0, 0.6), "embedded": (1, 0.6), "+ positions": (2, 0.6), "norm 1": (1, 2.4), "q": (0, 3.5), "k": (1, 3.5),
          "v": (2, 3.5), "scores": (0, 4.75), "pattern": (1, 4.75), "mixed": (2, 4.75), "attention writes": (2, 5.8), "between": (0, 5.8),
          "norm 2": (0, 6.85), "widen": (1, 6.85), "bend": (2, 6.85), "feed-forward writes": (2, 7.9), "stream out": (0, 7.9),
          "final norm": (0, 9.5), "logits": (1, 9.5), "probabilities": (2, 9.5)}  # (x, y) of the arrays of a decoder-only model
READS = (("token ids", "embedded"), ("embedded", "+ positions"), ("q", "scores"), ("scores", "pattern"), ("pattern", "mixed"),
         ("v", "mixed"), ("mixed", "attention writes"), ("attention writes", "between"), ("between", "norm 2"), ("norm 2", "widen"),
         ("widen", "bend"), ("bend", "feed-forward writes"), ("feed-forward writes", "stream out"), ("final norm", "logits"),
         ("logits", "probabilities"))


def decoder_only(lines, headings, *, block=0, n_layers=1, marked=None, dark=False):
    """Every array of a decoder-only model with an arrow from each that it is computed from; at the left the stream's ways past the layers.

    lines     {name of PLACES: the line under it}, in the order of computation
    headings  three: over what comes before the blocks, over the block, over what comes after them
    block     the one that is drawn; arrows that pass over other blocks are dotted
    marked    the name of the box to frame
    """
    w, h, lane, top = 0.45, 0.39, -0.6, 1.62  # half a box; where the ways past the layers run; where the stream comes in
    names = list(lines)
    boxes = [Box(wrapped(name), wrapped(line), *PLACES[name], 0.9, 0.78) for name, line in lines.items()]
    boxes += [Box(heading, "", x, y, 0, 0.3, plain=True, anchor="left") for heading, x, y in zip(
        headings, (-w, -w, 0.1), (0, 1.35, 8.9), strict=True)]
    arrows = []
    for start, end in READS:
        (x0, y0), (x1, y1) = PLACES[start], PLACES[end]
        aside = 0 if x0 == x1 else w if x1 > x0 else -w
        arrows.append(Arrow(((x0 + aside, y0 + h * (not aside)), (x1 - aside, y1 - h * (not aside)))))
    first, last = block > 0, block + 1 < n_layers
    y, rows = PLACES["norm 1"][1], PLACES["q"][1] - h
    arrows += [Arrow(((2, PLACES["+ positions"][1] + h), (2, top), (1, top), (1, y - h)), dashed=first),
               Arrow(((1 - w, y), (0, y), (0, rows))), Arrow(((1, y + h), (1, rows))), Arrow(((1 + w, y), (2, y), (2, rows))),
               Arrow(((1, PLACES["k"][1] + h), (1, 4.12), (0.25, 4.12), (0.25, PLACES["scores"][1] - h)))]
    between, out = PLACES["between"][1], PLACES["stream out"][1]
    arrows += [Arrow(((1, top), (lane, top), (lane, between - 0.15), (-w, between - 0.15))),
               Arrow(((-w, between + 0.15), (lane, between + 0.15), (lane, out), (-w, out))),
               Arrow(((0, out + h), (0, PLACES["final norm"][1] - h)), dashed=last)]
    return flow(boxes, arrows, title="", marked=() if marked is None else (names.index(marked),), height=680, type_size=12, dark=dark)
