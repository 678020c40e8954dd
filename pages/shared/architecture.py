"""The drawings of a block and of the 2017 architecture, with the shape of every array on its arrow.

Both are read from the bottom up, as the figure of the paper is. Each box has the address of the page that explains it.
"""

from pages.shared.diagrams import Arrow, Box, flow


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
