"""The page of memory and compute: which model, and what its cache and its memory come to."""

from typing import NamedTuple

import streamlit as st

from core import accounting, arithmetic_costs, cache_sizes, memory
from core.more_models import CONTEXTS, KNOWN, WINDOWS
from core.published_config import Experts, Latent, PublishedConfig
from core.published_models import runnable
from pages.shared import controls, lesson, quantities, slow_costs

OWN = "your own sizes"
CONFIG = (PublishedConfig, Experts, Latent)  # what a script needs to write a model's sizes down
CONTEXT_STOPS = tuple(2**i for i in range(7, 21))
BATCHES = tuple(2**i for i in range(9))
MEMORIES = (4, 8, 16, 24, 32, 48, 64, 80, 96, 128, 192, 256, 512, 1024)
LOOKS = ((0, "solid"), (1, "dash"), (2, "dot"))
CACHE_PRECISIONS = ("16 bit", "float32", "int8")


class Choice(NamedTuple):
    """The model that the page counts."""

    name: str
    config: PublishedConfig
    parameters: int


class Told(NamedTuple):
    """What a view computed, for the page's script: functions of core, values, and steps that print the same numbers."""

    functions: tuple
    values: dict
    steps: str


def ask(page):
    """The controls of a model: a published one, or sizes of one's own."""
    names = (OWN, *KNOWN)
    name = names[controls.pick(page, "model", "Model", names, names.index("llama-3-8b"))]
    config = _own(page) if name == OWN else KNOWN[name]
    if name in WINDOWS:
        lesson.remarks([f"In {name} {WINDOWS[name]}. The page counts as if every layer kept the whole text, which is the most it can be."])
    return Choice(name, config, accounting.count_parameters(config).total)


def _own(page):
    """A model like the Llama family with sizes of one's own; the core's sentence where they do not fit."""
    first, second, third, fourth = st.columns(4)
    with first:
        d_model = controls.stop(page, "d_model", "d_model", tuple(2**i for i in range(6, 15)), 4096)
        d_ff = controls.stop(page, "d_ff", "d_ff", tuple(2**i for i in range(8, 17)), 16384)
    with second:
        n_layers = controls.whole(page, "n_layers", "Layers", 1, 128, 32)
        vocab_size = controls.stop(page, "vocab_size", "Vocabulary", tuple(2**i for i in range(8, 19)), 131072)
    with third:
        n_heads = controls.stop(page, "n_heads", "Query heads", tuple(2**i for i in range(8)), 32)
        d_head = controls.stop(page, "d_head", "Width of a head", (16, 32, 64, 80, 96, 128, 256), 128)
    with fourth:
        n_kv_heads = controls.stop(page, "n_kv_heads", "Key/value heads", tuple(2**i for i in range(8)), 8)
    sizes = {"positions": "rotary", "norm": "rms", "activation": "swiglu", "tied": False, "d_head": d_head}
    try:
        return PublishedConfig(OWN, "decoder", vocab_size, d_model, n_layers, n_heads, d_ff, n_kv_heads=n_kv_heads, **sizes)
    except ValueError as fault:
        lesson.warn(f"{fault} Until then each query head has a key and a value of its own.")
        return PublishedConfig(OWN, "decoder", vocab_size, d_model, n_layers, n_heads, d_ff, **sizes)


def lengths(page, choice, beside=None):
    """The controls of how long the texts are and how many there are at once, or of what `beside` asks for instead."""
    left, right = st.columns(2)
    with left:
        context = controls.stop(page, "context", "Context: tokens of each text", CONTEXT_STOPS, 8192)
    with right:
        second = beside() if beside else controls.stop(page, "batch", "Batch: texts at once", BATCHES, 1)
    most = CONTEXTS.get(choice.name)
    if most is not None and context > most:
        lesson.small(f"{choice.name} was made for texts of up to {most:,} tokens; beyond that the page only counts.")
    return context, second


def precisions(page):
    """The controls of how many bytes a number takes. Returns the names for weights and for the cache."""
    left, right = st.columns(2)
    with left:
        weights = controls.choice(page, "weights", "Bits of each weight", list(memory.PRECISIONS), "16 bit")
    with right:
        kept = controls.choice(page, "cache", "Bits of each cached number", CACHE_PRECISIONS)
    return weights, kept


def nearest(page, name, stops, chart):
    """A callback: a click on a curve sets the control `name` to the stop that is nearest."""
    def take():
        point = controls.clicked(chart)
        if point is not None:
            st.session_state[f"{page}.{name}"] = min(stops, key=lambda stop: abs(stop - point["x"]))
    return take


# ------------------------------------------------------------------------------------------------------------- the cache


def cache(page):
    """The cache of keys and values: bytes against context, other numbers of key/value heads, and what fits."""
    choice = ask(page)
    context, batch = lengths(page, choice)
    weights, kept = precisions(page)
    gib = controls.stop(page, "memory", "Memory of the machine, GiB", MEMORIES, 24)
    config, size = choice.config, memory.PRECISIONS[kept]
    found, weight_bytes = cache_sizes.variants(config, size), memory.stored_bytes(choice.parameters, memory.PRECISIONS[weights])
    lesson.say("A model that writes keeps the **key** and the **value** of every earlier token in every layer, so that a step need not "
               "compute them again: the **KV cache**.")
    inner = (r"\text{layers} \times (\text{kv rank} + d_{\text{rope}}) \\ &" if config.latent else
             r"2 \times \text{layers} \times \text{kv heads} \\ & \times \text{width of a head}")
    lesson.formula(rf"\begin{{aligned}} & \text{{bytes of one token}} \\ & = {inner} \times \text{{bytes a number}} \end{{aligned}}")
    told = Told((accounting.kv_cache_bytes_per_token, cache_sizes.variants, cache_sizes.tokens_that_fit, *CONFIG),
                {"config": config, "context": context, "batch": batch, "size": size, "memory_bytes": gib * memory.GIB,
                 "weight_bytes": weight_bytes}, """
    for variant in variants(config, size):
        show(variant.name, [variant.bytes_per_token, variant.bytes_per_token * context * batch,
                            tokens_that_fit(memory_bytes, weight_bytes, variant.bytes_per_token, batch)])
    """)
    if not found:
        lesson.say(f"{choice.name} is an encoder: it reads a text in one go and writes nothing, so it keeps **no cache**: 0 bytes.")
        _all_models()
        return told
    own = found[0]
    total = cache_sizes.whole_cache(own.bytes_per_token, context, batch)
    factors = arithmetic_costs.explain_cache(config, context, batch, size)
    lesson.say(f"{choice.name}: {factors[0].terms[0].right_name} = **{own.bytes_per_token:,} bytes** a token. "
               f"{batch} × {context:,} tokens take **{memory.in_words(total)}**; the weights take {memory.in_words(weight_bytes)}.")
    if config.n_decoder_layers:
        lesson.say("This is the decoder's own cache for the text it writes. Cross-attention keeps as many bytes again for each token of "
                   "the source.")
    fits = {each.name: cache_sizes.tokens_that_fit(gib * memory.GIB, weight_bytes, each.bytes_per_token, batch) for each in found}
    whole = {each.name: cache_sizes.whole_cache(each.bytes_per_token, context, batch) for each in found}
    unit = memory.common_unit(whole.values())
    lesson.say(f"| key/value heads | how many | bytes a token | all ({unit.name}) | tokens a text that fit |\n|:--|--:|--:|--:|--:|\n"
               + "\n".join(f"| {each.name} | {'one narrow vector' if each.n_kv_heads is None else each.n_kv_heads} | "
                           f"{each.bytes_per_token:,} | {memory.four(whole[each.name] / unit.bytes)} | {fits[each.name]:,} |"
                           for each in found))
    lesson.small(f"What fits: beside the weights, in {gib} GiB. It counts weights and cache alone; a running program needs some more.")
    if not fits[own.name]:
        lesson.warn(f"The weights alone take more than {gib} GiB. Choose a larger memory, fewer bits, or a smaller model.")
    left, right = st.columns(2)
    with left:
        at = [context * i / 4 for i in range(9)]
        figure = quantities.lines({each.name: (at, [each.bytes_per_token * n * batch / unit.bytes for n in at], look)
                                   for each, look in zip(found, LOOKS, strict=False)}, title="Cache against context", linear=True,
                                  x_title="tokens of each text", y_title=unit.name, at=("", context), dark=lesson.dark())
        chart = f"{page}.cache"
        lesson.picture(figure, chart, f"The cache grows in a straight line; at {context:,} tokens and batch {batch} it takes "
                       f"{memory.in_words(total)}.", nearest(page, "context", CONTEXT_STOPS, chart))
    with right:
        figure = quantities.lines({each.name: (BATCHES, [cache_sizes.tokens_that_fit(
            gib * memory.GIB, weight_bytes, each.bytes_per_token, n) for n in BATCHES], look)
            for each, look in zip(found, LOOKS, strict=False)}, title=f"What fits into {gib} GiB beside the weights",
            x_title="texts at once", y_title="tokens a text", at=("", batch), dark=lesson.dark())
        lesson.picture(figure, f"{page}.fits", f"With batch {batch}, {fits[own.name]:,} tokens a text fit beside the weights in {gib} GiB.")
    lesson.say("What the cache takes depends on the **key/value heads**, not on the query heads. One pair for all query heads is "
               "multi-query attention (MQA, Shazeer 2019); one for each group of them is grouped-query attention (GQA, Ainslie et al. "
               "2023). Latent attention (MLA, DeepSeek-AI 2024) keeps one narrow vector a token, from which the keys and values of all "
               "heads are made.")
    asked = ["the cache", "what fits", "the weights"]
    which = controls.pick(page, "cache_number", "Take apart", asked)
    per_token = own.bytes_per_token
    lesson.arithmetic(f"{choice.name}: {asked[which]}, {('GiB', 'tokens a text', 'GiB')[which]}", (
        factors, arithmetic_costs.explain_fit(gib * memory.GIB, weight_bytes, per_token, batch),
        arithmetic_costs.explain_weights(config, weights))[which])
    _all_models()
    return told


def _all_models():
    """The table of all models at 16 bit."""
    with st.expander("All models at 16 bit"):
        every = slow_costs.all_models()
        unit = memory.common_unit([line.weight_bytes for line in every])
        lesson.say(f"| model | cache of a token (bytes) | context | cache of such a text ({unit.name}) | weights ({unit.name}) |\n"
                   "|:--|--:|--:|--:|--:|\n" + "\n".join(
                       f"| {line.name} | {line.bytes_per_token:,} | {'not named' if line.context is None else f'{line.context:,}'} | "
                       f"{memory.four(line.cache_bytes / unit.bytes) if line.cache_bytes else ''} | "
                       f"{memory.four(line.weight_bytes / unit.bytes)} |" for line in every))
        lesson.small("Context: the longest text that the makers name. Encoders keep no cache.")


# ------------------------------------------------------------------------------------------------------------- memory


def whole_memory(page):
    """What lies in memory while a model reads and while it learns, by precision."""
    choice = ask(page)
    context, batch = lengths(page, choice)
    kept = controls.choice(page, "cache", "Bits of each cached number", CACHE_PRECISIONS)
    pattern = controls.switch(page, "pattern", "Keep the attention pattern for the way back", True,
                              help="Off: it is computed again on the way back, as FlashAttention does (Dao et al. 2022, section 3.1).")
    config = choice.config
    lesson.say("To **read** or write, a model needs its weights and the cache. To **learn**, it needs a gradient for every parameter, the "
               "two running means of AdamW for every parameter, and the **activations**: the arrays of the forward pass that "
               "backpropagation reads again.")
    lesson.say("**Mixed precision** multiplies 16-bit weights and adds the small steps to a float32 **master copy**, because 16 bits would "
               "round them away (Micikevicius et al. 2018). Float32 throughout, or mixed: both take 16 bytes a parameter before any "
               "activation.")
    arrays, fault = _kept(choice, context, batch, pattern)
    stacks = {f"read, {name}": memory.reading(config, context, batch, size, memory.PRECISIONS[kept])
              for name, size in memory.PRECISIONS.items()}
    stacks |= {f"learn, {how}": memory.training(config, how, arrays or ()) for how in memory.TRAINING}
    parts = {"weights": "weights", "gradients": "gradients", "optimizer (m, v, master copy)": "optimizer",
             "activations": "activations", "cache": "cache"}
    largest = max(stacks, key=lambda name: stacks[name].total)
    unit = memory.common_unit([stacks[largest].total])
    shown = {name: [getattr(stack, part) / unit.bytes for stack in stacks.values()] for name, part in parts.items()}
    asked = [(stack, part) for stack, found in stacks.items() for part, n_bytes in found._asdict().items() if n_bytes]
    lesson.warn(fault)
    figure = quantities.lying(list(stacks), shown, title="What lies in memory", unit=unit.name, stacked=True, dark=lesson.dark())
    chart = f"{page}.memory"
    lesson.picture(figure, chart, f"{choice.name}, {batch} × {context:,} tokens: " + "; ".join(
        f"{name} {memory.four(stack.total / unit.bytes)} {unit.name}" for name, stack in stacks.items()) + ".",
        _click_bar(page, chart, list(stacks), asked))
    lesson.say(f"All in **{unit.name}**; what is not needed is left empty. The most, to {largest}, is "
               f"**{memory.in_words(stacks[largest].total)}**.")
    lesson.say("| | weights | gradients | optimizer | activations | cache | all |\n|:--|--:|--:|--:|--:|--:|--:|\n" + "\n".join(
        f"| {name} | " + " | ".join(memory.four(n_bytes / unit.bytes) if n_bytes else "" for n_bytes in [*stack, stack.total]) + " |"
        for name, stack in stacks.items()))
    if arrays:
        whole = sum(part.count for part in arrays)
        lesson.say("Of the activations, " + ", ".join(f"{part.name} **{part.count / whole:.1%}**" for part in sorted(
            arrays, key=lambda part: -part.count)[:3]) + ", and the rest is smaller. The pattern grows with the square of the context.")
    lesson.small("int8 and int4 formats also keep scales, which are left out here. Left out too: what one layer needs for a moment, and "
                 "what the program itself takes. One copy on one machine; training that is shared between machines splits or copies these.")
    which = controls.pick(page, "memory_number", "Take apart", [f"{stack}: {part}" for stack, part in asked])
    stack, part = asked[which]
    how = stack.split(", ")[1]
    if part == "cache":
        explained = arithmetic_costs.explain_cache(config, context, batch, memory.PRECISIONS[kept])
    elif stack.startswith("read"):
        explained = arithmetic_costs.explain_weights(config, how)
    else:
        explained = arithmetic_costs.explain_training(config, how, arrays or (), part)
    lesson.arithmetic(f"{choice.name}, {stack}: {part}, GiB", explained)
    lesson.check("activations and cache of a small model are the bytes of its arrays", slow_costs.counted_bytes_gap(), 0)
    reads = "config" if config.positions == "learned" else "config, context"
    return Told((memory.reading, memory.training, memory.kept_arrays, *CONFIG, *((runnable,) if arrays else ())),
                {"config": config, "context": context, "batch": batch, "pattern": pattern, "size": memory.PRECISIONS[kept],
                 "precisions": memory.PRECISIONS, "ways": list(memory.TRAINING)},
                (f"\n    kept = kept_arrays(runnable({reads}), context, batch, pattern)" if arrays else "\n    kept = []") + """
    for precision, weight_bytes in precisions.items():
        show(f"read, {precision}", reading(config, context, batch, weight_bytes, size))
    for how in ways:
        show(f"learn, {how}", training(config, how, kept))
    """)


def _kept(choice, context, batch, pattern):
    """The arrays kept for the way back, or a sentence why they are not counted."""
    config = choice.config
    if config.positions == "learned" and context > config.n_ctx:
        return None, f"{choice.name} has a table of {config.n_ctx:,} positions; to count its activations choose a context within it."
    try:
        own = runnable(config, None if config.positions == "learned" else context)
    except ValueError as fault:
        return None, f"Activations are counted only where core can run the model, so that real arrays can check the count: {fault}"
    return memory.kept_arrays(own, context, batch, pattern), ""


def _click_bar(page, chart, stacks, asked):
    """A callback: a click on a part of a bar takes it apart."""
    def take():
        point = controls.clicked(chart)
        if point is None:
            return
        wanted = {"weights": 0, "gradients": 1, "optimizer": 2, "activations": 3, "cache": 4}
        for number, (stack, part) in enumerate(asked):
            if stack == stacks[int(point["y"])] and wanted[part] == point["curve_number"]:
                st.session_state[f"{page}.memory_number"] = number
    return take
