"""The page of memory and compute: operations of a pass, and the roof that a machine puts over them."""

import streamlit as st

from core import accounting, arithmetic_costs, roofline, stopwatch
from core.memory import PRECISIONS, common_unit, four, in_powers
from pages.shared import controls, costing, lesson, measuring, quantities

TRAINED_ON = (1, 10, 100, 300, 1000, 2000, 15000)  # times 10⁹ tokens
MEASURED = "this machine, measured"
NAMES = {"qkv": "q, k, v", "scores": "scores", "mixed": "mixed values", "attn_out": "attention's output", "feed_forward": "feed-forward",
         "logits": "logits"}


def operations(page):
    """Operations of reading and of writing one token; the rule of two; the way back; a whole training."""
    choice = costing.ask(page)
    context, billions = costing.lengths(page, choice, lambda: controls.stop(
        page, "trained_on", "Tokens of a whole training, times 10⁹", TRAINED_ON, 1000))
    tokens = billions * 10**9
    config = choice.config
    lesson.say("A **FLOP** is one addition or multiplication of floating-point numbers; a multiply-add is 2. Counted are the products of "
               "matrices. **Prefill** reads a whole text at once; **decode** writes one token after a text that is in the cache.")
    lesson.formula(r"\begin{aligned} & \text{FLOPs of a token} \\ & = 2 \times \text{numbers of the matrices} \\ "
                   r"& + 4 \times \text{layers} \times \text{heads} \times \text{width of a head} \\ "
                   r"& \times \text{tokens it can look at} \end{aligned}")
    told = costing.Told((roofline.training_estimate, accounting.forward_flops, *costing.CONFIG),
                        {"config": config, "context": context, "tokens": tokens}, """
    show("training, an estimate", training_estimate(config, tokens))
    """)
    active = accounting.count_parameters(config).active
    estimate = roofline.training_estimate(config, tokens)
    try:
        prefill = accounting.forward_flops(config, context)
    except ValueError as fault:
        lesson.warn(f"{choice.name}: {fault} Its cache and its memory can be seen in the other views.")
        prefill = None
    if prefill is not None:
        told = _passes(page, choice, context, prefill, told)
    lesson.say(f"**A whole training**, estimated: 6 · N · D = 6 × {active:,} × {tokens:,} = **{in_powers(estimate)} FLOPs**. N are the "
               "parameters that a token uses, D the tokens; 2 of the 6 are the way forward and 4 the way back. It is an estimate: pairs "
               "of tokens are left out, and tables that are looked up in are counted as if they were multiplied.")
    return told


def _passes(page, choice, context, prefill, told):
    """What prefill and decode take, part by part and over the position."""
    config, encoder = choice.config, choice.config.kind == "encoder"
    decode = None if encoder else accounting.forward_flops(config, 1, context - 1)
    back = accounting.backward_flops(config, context)
    rows = [("prefill", context, prefill), *([] if encoder else [("decode, the last of them", 1, decode)]), ("the way back", context, back)]
    lesson.say("| | tokens | FLOPs | FLOPs a token |\n|:--|--:|--:|--:|\n" + "\n".join(
        f"| {name} | {n:,} | {in_powers(work.total)} | {in_powers(work.total / n)} |" for name, n, work in rows))
    lesson.say("The way back takes twice the way forward: each product needs one of the same size for what came in and one for the matrix. "
               "Prefill counts the scores that a causal mask hides too, as this course's attention computes them.")
    if encoder:
        lesson.say(f"{choice.name} is an encoder: it writes nothing, so there is no decode.")
    left, right = st.columns(2)
    with left:
        shown = ({"a token of prefill": (prefill, context)} if encoder else
                 {"the first token": (accounting.forward_flops(config, 1), 1), f"token {context:,}": (decode, 1)})
        figure = quantities.lying([NAMES[part] for part in prefill._fields], {
            name: [count / n / 10**9 for count in work] for name, (work, n) in shown.items()}, title="FLOPs of one token, by part",
            unit="times 10⁹", dark=lesson.dark())
        lesson.picture(figure, f"{page}.parts", f"A token of prefill takes {prefill.total / context:.4g} FLOPs on average" + (
            "." if encoder else f"; the last one decoded takes {decode.total:.4g}, more than the first in scores and mixing alone."))
    if not encoder:
        with right:
            rules = [roofline.rule_of_two(config, n - 1) for n in costing.CONTEXT_STOPS]
            figure = quantities.lines({"counted": (costing.CONTEXT_STOPS, [rule.counted for rule in rules], (0, "solid")),
                                   "2 · N": (costing.CONTEXT_STOPS, [rule.rule for rule in rules], (1, "dash"))},
                                  title="FLOPs of one token against its position", x_title="tokens it can look at", y_title="FLOPs",
                                  points={f"{context:,} tokens": (context, decode.total)}, dark=lesson.dark())
            chart = f"{page}.positions"
            lesson.picture(figure, chart, f"One token at {context:,} takes {decode.total:.4g} FLOPs; 2 N says {rules[0].rule:.4g}.",
                           costing.nearest(page, "context", costing.CONTEXT_STOPS, chart))
        rule = roofline.rule_of_two(config, context - 1)
        lesson.say(f"**Two FLOPs a parameter**: 2 × {rule.n:,} = {in_powers(rule.rule)}; counted {in_powers(rule.counted)}; the rule is "
                   f"**{abs(rule.error):.2%} too {'high' if rule.error > 0 else 'low'}** here. It leaves out the pairs of tokens, so it "
                   "fails for long texts; and it counts the input table, in which a token looks up one row.")
    asked = ["prefill"] + ([] if encoder else ["decode"])
    which = controls.pick(page, "work_number", "Take apart", asked)
    explained = arithmetic_costs.explain_flops(config, *((context, 0) if which == 0 else (1, context - 1)))
    lesson.arithmetic(f"{choice.name}: {asked[which]}, FLOPs", explained)
    return told._replace(steps=told.steps + """
    show("prefill", forward_flops(config, context))
    """ + ("" if encoder else """
    show("decode", forward_flops(config, 1, context - 1))
    """))


# ------------------------------------------------------------------------------------------------------------- the roof


def roofs(page):
    """How fast a pass could at most be on a machine: its intensity under the machine's roof."""
    choice = costing.ask(page)
    context, batch = costing.lengths(page, choice)
    weights, kept = costing.precisions(page)
    config = choice.config
    lesson.say("A chip can't multiply what it has not read. **Arithmetic intensity** is the FLOPs of a pass for each byte it must read: "
               "the matrices once for the whole batch, and each text's cache. A machine's **roof** is the lower of two limits (Williams, "
               "Waterman & Patterson 2009).")
    lesson.formula(r"\text{rate} \le \min(\text{peak},\ \text{intensity} \times \text{bandwidth})")
    lesson.say("**It is an upper bound, not a forecast**: real programs stay below it, some far. What lies between the layers is taken to "
               "stay on the chip, and a model larger than one machine's memory is counted as if it fitted.")
    machines = dict(roofline.MACHINES)
    name = controls.choice(page, "machine", "Machine", [*machines, MEASURED], next(iter(machines)))
    running = measuring.buttons(page, "machine", "Measure this machine")
    rates = {}

    def moving():
        measuring.tick("machine")
        rates.update(measuring.status("machine", running))

    if name == MEASURED or running or measuring.held("machine") is not None:
        lesson.live(moving, measuring.TICK if running else None)
        lesson.small("Measured in float32 with NumPy, while whatever else this server does goes on. The result stays with you until you "
                     "close the page; the address does not hold it.")
    if len(rates) == 2:
        peak, bandwidth = stopwatch.machine_rates(rates)
        machines[MEASURED] = roofline.Machine(MEASURED, {"16 bit": peak, "float32": peak}, bandwidth, "measured here")
    try:
        passes = _three(config, context, batch, PRECISIONS[weights], PRECISIONS[kept])
    except ValueError as fault:
        lesson.warn(f"{choice.name}: {fault} Choose a model of one stack to see it under a roof.")
        passes = []
    precision = "float32" if weights == "float32" else "16 bit"
    told = costing.Told((roofline.one_pass, roofline.bound, *costing.CONFIG), {
        "config": config, "context": context, "weight_bytes": PRECISIONS[weights], "cache_bytes": PRECISIONS[kept]}, "")
    if passes:
        _picture(page, machines, name, precision, passes)
    machine = machines.get(name)
    if machine is None:
        lesson.say("Press “Measure this machine” to see its roof, or choose another machine.")
    elif passes:
        told = _under(page, choice, machine, precision, passes, told)
    lesson.small("Dense peaks, without sparsity. " + " · ".join(each.source for each in roofline.MACHINES.values()))
    return told


def _three(config, context, batch, weight_bytes, cache_bytes):
    """Prefill, and, where the model writes, decode alone and decode of a batch."""
    passes = [roofline.one_pass("prefill", config, context, 0, batch, weight_bytes, cache_bytes)]
    if config.kind == "decoder":
        sizes = (1, batch) if batch > 1 else (1,)
        passes += [roofline.one_pass(f"decode, batch {n}", config, 1, context - 1, n, weight_bytes, cache_bytes) for n in sizes]
    return passes


def _picture(page, machines, name, precision, passes):
    """The roofs of all machines, and the passes under that of one."""
    x = sorted({4.0**i for i in range(-1, 8)} | {roofline.ridge(each.peak[precision], each.bandwidth) for each in machines.values()}
               | {one.intensity for one in passes})
    looks = ((0, "solid"), (1, "dash"), (2, "dot"), (4, "dashdot"))
    series = {each.name: (x, [roofline.attainable(value, each.peak[precision], each.bandwidth) for value in x], look)
              for each, look in zip(machines.values(), looks, strict=False)}
    machine = machines.get(name)
    marks = {} if machine is None else {
        one.name: (one.intensity, roofline.attainable(one.intensity, machine.peak[precision], machine.bandwidth)) for one in passes}
    figure = quantities.lines(series, title="Roofs: FLOPs a second at most", x_title="FLOPs a byte", y_title="FLOPs a second", points=marks,
                          base=10, height=400, dark=lesson.dark())
    lesson.picture(figure, f"{page}.roofs", "Each roof rises with intensity and then is flat; " + ", ".join(
        f"{one.name} has {one.intensity:.4g} FLOPs a byte" for one in passes) + ".")


def _under(page, choice, machine, precision, passes, told):
    """What the roof of one machine allows each pass."""
    peak, bandwidth = machine.peak[precision], machine.bandwidth
    found = {one.name: roofline.bound(one, peak, bandwidth) for one in passes}
    by = "float32" if machine.name == MEASURED else precision
    lesson.say(f"**{machine.name}**, multiplying in {by}: peak {in_powers(peak)} FLOPs a second, {in_powers(bandwidth)} bytes a second. "
               f"From **{roofline.ridge(peak, bandwidth):.4g} FLOPs a byte** on, arithmetic is the limit.")
    unit = common_unit([one.bytes for one in passes], binary=False)  # as the makers of chips write their bandwidth
    lesson.say(f"| pass | FLOPs | {unit.name} read | FLOPs a byte | limited by | seconds (at least) | tokens a second (at most) |\n"
               "|:--|--:|--:|--:|:--|--:|--:|\n" + "\n".join(
                   f"| {one.name} | {in_powers(one.flops)} | {four(one.bytes / unit.bytes)} | {in_powers(one.intensity)} | "
                   f"{found[one.name].by} | "
                   f"{in_powers(found[one.name].seconds)} | {in_powers(found[one.name].tokens)} |" for one in passes))
    lesson.say("Decode reads every weight for one token, so its intensity is low. A batch shares that reading among its texts, while each "
               "text still reads its own cache. Prefill uses every weight for many tokens at once.")
    if choice.config.experts:
        lesson.say("Of its experts only those that one token uses are counted as read; a batch usually wakes more.")
    if precision == "16 bit" and machine.name != MEASURED:
        lesson.small("int8 and int4 weights are taken to be unpacked on the chip and multiplied in 16 bit.")
    which = controls.pick(page, "pass_number", "Take apart", [one.name for one in passes])
    lesson.arithmetic(f"{choice.name} on {machine.name}: {passes[which].name}, tokens a second at most",
                      arithmetic_costs.explain_bound(passes[which], peak, bandwidth))
    values = told.values | {"peak": peak, "bandwidth": bandwidth, "asked": [(one.name, one.n_tokens) for one in passes]}
    return told._replace(values=values, steps="""
    for name, n_tokens in asked:
        prefill = name == "prefill"
        one = one_pass(name, config, context if prefill else 1, 0 if prefill else context - 1, n_tokens // context if prefill else n_tokens,
                       weight_bytes, cache_bytes)
        found = bound(one, peak, bandwidth)
        show(name, [found.rate, found.seconds, found.tokens])
    """)
