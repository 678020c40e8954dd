"""What the page of parameters counts: sizes of one's own, a published model, or a pasted file; and what it shows of a count."""

import functools

import streamlit as st

from core import ledger, published_figures
from core.accounting import count_parameters
from core.published_config import PublishedConfig
from core.published_models import MODELS, runnable
from core.written import percent, separated
from pages.shared import controls, horizontal, lesson, pasting, slow

WHAT = ("my own sizes", "a published model", "a pasted config.json")
NAMES = list(MODELS)
LAST = "last sizes that worked"
SMALL = 300_000  # numbers: so small a model is really made, to be compared
VOCABULARIES = (65, 256, 1000, 8192, 16384, 30522, 32000, 32128, 37000, 49152, 50257, 50304, 51200, 65536, 100000, 128256, 151936, 256000)
CONTEXTS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
WIDTHS = (16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 576, 640, 768, 896, 1024, 1280, 1536, 1600, 2048, 2304, 2560, 3072, 3584, 4096, 5120,
          6144, 7168, 8192, 12288, 16384)
SHARED = ("as heads", *map(str, (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)))
HEAD_WIDTHS = ("d / heads", *map(str, (4, 8, 16, 32, 48, 64, 80, 96, 128, 192, 256, 512)))
INNER = ("4 · d", *map(str, (0, 64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 4864, 5632, 6144, 8192, 9216, 10240, 11008, 14336, 16384,
                             18432, 24576, 28672, 53248)))
BENDS = {"GELU": "gelu", "ReLU": "relu", "SiLU": "silu", "SwiGLU": "swiglu", "GEGLU": "geglu"}
NORMS = {"LayerNorm": "layer", "RMSNorm": "rms", "none": "none"}
BIASES = {"everywhere": ("qkv", "o", "ff", "norm"), "in q, k, v": ("qkv",), "nowhere": ()}
TOY = {"vocab_size": 65, "n_ctx": 64, "d_model": 64, "n_layers": 2, "n_heads": 4, "n_kv_heads": "as heads", "d_head": "d / heads",
       "d_ff": "4 · d", "bend": "GELU", "norm": "LayerNorm", "scheme": "learned", "tied": True, "biases": "everywhere"}
PRESETS = {
    "the toy": TOY,
    "GPT-2 small": TOY | {"vocab_size": 50257, "n_ctx": 1024, "d_model": 768, "n_layers": 12, "n_heads": 12},
    "SmolLM2-135M": TOY | {"vocab_size": 49152, "n_ctx": 2048, "d_model": 576, "n_layers": 30, "n_heads": 9, "n_kv_heads": "3",
                           "d_ff": "1536", "bend": "SwiGLU", "norm": "RMSNorm", "scheme": "rotary", "biases": "nowhere"}}


def ask(page):
    """The controls of what is counted.

    returns  (what to call it, PublishedConfig)
    """
    what = controls.choice(page, "what", "Count", WHAT)
    with st.container(border=True):
        if what == WHAT[2]:
            return pasting.ask(page)
        pasting.leave(page)
        if what == WHAT[1]:
            name = NAMES[controls.pick(page, "model", "Published model", NAMES)]
            _published(name)
            return name, MODELS[name]
        return _own(page)


def _own(page):
    """The sliders of every size. Where they can't be, the last ones of this visit that could are counted, and called so.

    returns  (what to call it, PublishedConfig)
    """
    for place, (name, sizes) in zip(st.columns(len(PRESETS)), PRESETS.items(), strict=True):
        with place:
            st.button(f"Set to {name}", on_click=_set, args=(page, sizes), key=f"{page}.preset.{name}", width="stretch")
    places = [place for _ in range(3) for place in st.columns(3, vertical_alignment="bottom")]
    for place, (name, label, options) in zip(places, (
            ("vocab_size", "Vocabulary", VOCABULARIES), ("n_ctx", "Context, n_ctx", CONTEXTS), ("d_model", "Width d, d_model", WIDTHS),
            ("n_layers", "Blocks, n_layers", 128), ("n_heads", "Heads", 128), ("n_kv_heads", "Key/value heads", SHARED),
            ("d_head", "Head width, d_head", HEAD_WIDTHS), ("d_ff", "Feed-forward width, d_ff", INNER)), strict=False):
        with place:
            if isinstance(options, int):
                controls.whole(page, name, label, 1, options, TOY[name])
            else:
                controls.stop(page, name, label, options, TOY[name])
    with places[8]:
        tied = controls.switch(page, "tied", "Tied tables", TOY["tied"], help="One table for the tokens of the input and of the output.")
    places = [place for _ in range(2) for place in st.columns([1.2, 1], vertical_alignment="bottom")]
    with places[0]:
        bend = list(BENDS)[controls.pick(page, "bend", "Bend", BENDS)]
    with places[1]:
        norm = controls.choice(page, "norm", "Norm", NORMS, TOY["norm"])
    with places[2]:
        scheme = controls.choice(page, "scheme", "Positions", ("learned", "rotary", "sinusoidal", "none"), TOY["scheme"])
    with places[3]:
        biases = controls.choice(page, "biases", "Biases", BIASES, TOY["biases"])
    held = {name: st.session_state[f"{page}.{name}"] for name in TOY}
    sizes = {name: held[name] for name in ("vocab_size", "d_model", "n_layers", "n_heads", "n_ctx")}
    given = {name: None if held[name] == options[0] else int(held[name])
             for name, options in (("n_kv_heads", SHARED), ("d_head", HEAD_WIDTHS))}
    d_ff = 4 * sizes["d_model"] if held["d_ff"] == INNER[0] else int(held["d_ff"])
    choices = {"activation": BENDS[bend], "norm": NORMS[norm], "positions": scheme, "tied": tied, "biases": BIASES[biases]}
    name, kept = "my sizes", f"_{page}.worked"
    try:
        config = st.session_state[kept] = PublishedConfig(name, "decoder", d_ff=d_ff, **sizes, **given, **choices)
    except ValueError as fault:
        name, config = (LAST, st.session_state[kept]) if kept in st.session_state else ("the toy", toy())
        lesson.warn(f"{separated(str(fault))} Until then {'the ' * (name == LAST)}{name} {'are' if name == LAST else 'is'} counted below.")
    heads = f"{config.n_heads:,} head{'s' * (config.n_heads != 1)} of width {config.d_head:,}"
    lesson.small(f"Counted, {name}: vocabulary {config.vocab_size:,}, context {config.n_ctx:,}, width {config.d_model:,}, "
                 f"{config.n_layers:,} block{'s' * (config.n_layers != 1)}, {heads}, {config.n_kv_heads:,} for keys and values, "
                 f"feed-forward width {config.d_ff:,}.")
    return name, config


@functools.cache
def toy():
    """The sizes that the sliders begin with."""
    return PublishedConfig("the toy", "decoder", 65, 64, 2, 4, 256, 64, biases=BIASES["everywhere"])


def _set(page, sizes):
    for name, value in sizes.items():
        st.session_state[f"{page}.{name}"] = list(BENDS).index(value) if name == "bend" else value


def _published(name):
    """The published figure beside ours, and what a reader should know about it."""
    figure, count = published_figures.FIGURES[name], count_parameters(MODELS[name])
    lesson.say(f"Published: **{figure.total:,}**. Counted here: **{count.total:,}**. "
               + ("They are equal to the last digit." if figure.total == count.total else
                  f"They differ by {abs(figure.total - count.total):,}"
                  + ("; the published figure is rounded." if figure.rounds_to(count.total) else "."))
               + f" {MODELS[name].note}")
    lesson.small(f"The figure: {figure.source}.")


@functools.lru_cache(64)
def of(config):
    """The entries and the totals of a model; nobody changes them."""
    return ledger.entries(config), ledger.totals(config)


def table(models):
    """The totals of one model or two, by convention.

    models  {name: config}
    """
    rows = {"every array, a shared table **once**": "total",
            "a table **each** for input and output": "apart",
            "**without** tables and output": "without_tables",
            "**block matrices** alone": "matrices",
            "**used** by one token": "active"}
    counts = [of(config)[1] for config in models.values()]
    if all(count.active == count.total for count in counts):
        rows.pop("**used** by one token")
    head = ["what is counted", *models, *(["ratio"] if len(models) == 2 else [])]
    lines = []
    for words, field in rows.items():
        numbers = [getattr(count, field) for count in counts]
        cells = ["has no output" if number is None else f"{number:,} ({ledger.short(number)})" for number in numbers]
        if len(models) == 2:
            cells.append("" if None in numbers else _ratio(numbers[1] / numbers[0]))
        lines.append(f"| {words} | {' | '.join(cells)} |")
    lesson.say(f"| {' | '.join(head)} |\n|:--|{'--:|' * (len(head) - 1)}\n" + "\n".join(lines))


def _ratio(ratio):
    return f"{ratio:,.0f}" if ratio >= 1000 else f"{ratio:.4g}"


def opened(page, models):
    """The bars of the part that is open, for one model or two; a click on a bar opens it. Its arithmetic stands in the panel.

    models  {name: config}; the first one's parts are in the list
    """
    first = next(iter(models.values()))
    entries, scale = [of(config)[0] for config in models.values()], "numbers"
    paths = list(dict.fromkeys(path for each in entries for path in each))
    left, middle, right = st.columns([3, 1, 1.3], vertical_alignment="bottom")
    with left:
        path = paths[_pick_path(page, [" › ".join(each) or "the whole model" for each in paths])]
    if path:
        with middle:
            st.button("One level up", on_click=_open, args=(page, paths.index(path[:-1])), key=f"{page}.up",
                      icon=":material/arrow_upward:", width="stretch")
    if len(models) == 2:
        with right:
            scale = controls.choice(page, "scale", "Scale", ("numbers", "shares of each"), "shares of each")
    is_array = not any(each[path].children for each in entries if path in each)
    shown = path[:-1] if is_array else path
    children = list(dict.fromkeys(child for each in entries if shown in each for child in each[shown].children))
    series, lines = {}, {}
    for name, each in zip(models, entries, strict=True):
        counts = [each[child].count if child in each else 0 for child in children]
        base = each[shown[:1] if shown[:1] in each and shown and shown[0].startswith("one ") else ()].count
        series[name] = counts if scale == "numbers" else [100 * count / base for count in counts]
        lines[name] = [_line(each.get(child), base) for child in children]

    def take():
        point = controls.clicked(f"{page}.bars")
        if point is not None and point["point_index"] < len(children):
            _open(page, paths.index(children[point["point_index"]]))

    labels = [child[-1] + (" ›" if any(child in each and each[child].children for each in entries) else "") for child in children]
    of_what = "one block" if shown and shown[0].startswith("one ") else "the whole"
    arrays = not any(each[child].children for child in children for each in entries if child in each)
    title = (f"{next(iter(models))}: " if len(models) == 1 else "") + (" › ".join(shown) or "the whole model")  # of two, bars bear names
    lesson.small(f"Click a bar to {'see its product' if arrays else 'open it'}.")
    figure = horizontal.opened(labels, series, lines, title=title, marked=children.index(path) if is_array else None, dark=lesson.dark())
    lesson.picture(figure, f"{page}.bars", f"{title}, shares of {of_what}. " + " ".join(
        f"{name}: " + "; ".join(f"{child[-1]} {line}" for child, line in zip(children, lines[name], strict=True)) + "." for name in models),
        take)
    _panel(next(iter(models)) if path in entries[0] else list(models)[1], entries[0] if path in entries[0] else entries[1],
           first if path in entries[0] else list(models.values())[1], path)


def _line(entry, base):
    if entry is None:
        return "none"
    active = f" · {ledger.short(entry.active)} used by one token" if entry.active != entry.count else ""
    share = f"{100 * entry.count / base:.1f} %" if 2000 * entry.count >= base or not entry.count else percent(entry.count, base, 2)
    return f"{entry.count:,} · {share}{active}"


def _pick_path(page, labels):
    """Which part is open, kept by its name when another model has other parts."""
    key = f"{page}.open"
    before = st.session_state.get(f"_labels.{key}")
    if key in st.session_state and before is not None and before != labels:
        held = before[st.session_state[key]]
        st.session_state[key] = labels.index(held) if held in labels else 0
        st.session_state[f"_labels.{key}"] = labels
    return controls.pick(page, "open", "Open", labels)


def _open(page, number):
    st.session_state[f"{page}.open"] = number


def _panel(name, entries, config, path):
    """The arithmetic of what is open."""
    entry, whole = entries[path], entries[()].count
    share = percent(entry.count, whole)
    share = f"of the whole model: {entry.count:,} / {whole:,} {'is' if share.startswith('under') else '='} {share}"
    if entry.row is None:
        parts = [entries[child] for child in entry.children]
        lines = [" + ".join(f"{part.path[-1]} {part.count:,}" for part in parts) + f" = {sum(part.count for part in parts):,}"]
        if entry.path:
            lines.append(share)
        if entry.active != entry.count:
            lines.append(f"one token uses {entry.active:,} of them")
    else:
        row, size = entry.row, entry.count // entry.times
        plural = "s" * (entry.times != 1)
        shape, put = " × ".join(f"{n:,}" for n in row.shape), ledger.with_sizes(row.reason, config)
        lines = [f"shape: {shape}; why: {row.reason}" + (f" = {put}" if put else ""),
                 f"{shape} = {size:,} numbers, {entry.times:,} time{plural}: {entry.times:,} × {size:,} = {entry.count:,}",
                 share]
        if entry.active != entry.count:
            lines.append(f"one token uses {entry.active // size:,} of them: {entry.active:,}")
    lesson.panel(f"{name}: {entry.label}", f"{entry.count:,}", lines)


def checks(config, name):
    """The invariants of a ledger, and how far it is from what was published and from arrays that are really made."""
    entries, totals = of(config)
    count = count_parameters(config)
    lesson.check(f"{name}: the parts add up to the whole", abs(sum(entries[part].count for part in entries[()].children) - totals.total), 0)
    lesson.check(f"{name}: each row is times × the product of its shape", max(abs(row.count - _size(row)) for row in count.rows), 0)
    if name in published_figures.FIGURES:
        figure = published_figures.FIGURES[name]
        near = f"within {figure.within:,} of" if figure.within else "equal to"
        lesson.check(f"{name}: the count is {near} the published figure", abs(count.total - figure.total), figure.within)
    try:
        made = runnable(config)
    except ValueError:
        made = None
    if made is not None and count.total <= SMALL:
        lesson.check(f"{name}: init_params makes arrays of just these shapes, and as many", slow.gap_to_arrays(made), 0)


def _size(row):
    size = row.times
    for length in row.shape:
        size *= length
    return size
