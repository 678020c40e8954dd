"""Generation: from logits to a chosen token, token after token, and the cache that saves the work."""

import streamlit as st

from core import arithmetic_model, kv_cache, sampling, writing
from core.config import ModelConfig
from core.transformer import forward
from pages.shared import caching, controls, lesson, models, plots, slow, text

PAGE = "generation"
VIEWS = ("choose the next token", "write", "KV cache")
TEMPERATURES = (0, 0.001, 0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 100)
TOP_K = (0, 1, 2, 3, 4, 5, 8, 12, 20)


def cuts():
    """Temperature, top-k and top-p as the person set them; None where a cut is off."""
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    with left:
        temperature = controls.stop(PAGE, "temperature", "1. Temperature T (0: always the largest)", TEMPERATURES, 1)
    with middle:
        top_k = controls.stop(PAGE, "top_k", "2. top-k (0: off)", TOP_K, 0)
    with right:
        top_p = controls.decimal(PAGE, "top_p", "3. top-p (1: off)", 0.05, 1, 1, 0.05)
    return temperature, top_k or None, top_p if top_p < 1 else None


lesson.say("A model gives logits: one number for every token of its vocabulary. **Generation** turns them into one chosen token, puts it "
           "at the end of the text, and asks again. What is chosen, and from how many, is set outside the model, here in this order: "
           "**1. temperature, 2. top-k, 3. top-p**.")
lesson.formula(r"\begin{aligned} &1.\; \text{softmax}(\text{logits} / T) \\ &2.\; \text{the } k \text{ most probable, renormalised} \\ "
               r"&3.\; \text{the fewest that reach } p\text{, renormalised} \end{aligned}")
lesson.ask(PAGE, "Probabilities .4 .3 .2 .1, top-p 0.8: how many tokens are kept?", ["2", "3", "4"], 1,
           "The first two have .7 together, which does not reach .8. The third crosses it and is kept too. Kept mass is p or more, never "
           "less; what is kept is then divided by its sum.")
view = controls.choice(PAGE, "view", "Look at", VIEWS)

if view == "KV cache":
    arrays, prompt = caching.compare(PAGE)
    lesson.ran(kv_cache.side_by_side, kv_cache.counted, kv_cache.multiply_adds)
    lesson.script("Generation", (kv_cache.side_by_side, ModelConfig), arrays, """
        for number, step in enumerate(side_by_side(params, token_ids, config, n_new)):
            show(f"step {number} positions", list(step.positions))
            show("logits", step.cached_logits)
            show("multiply-adds with the cache, without it, bytes", [step.cached.total, step.full.total, step.bytes])
        """, prompt)
else:
    typed = view == VIEWS[0] and controls.choice(PAGE, "source", "Logits", ("of the model", "typed in")) == "typed in"
    if typed:
        logits = models.typed_logits(PAGE)
        vocabulary = controls.features(len(logits))
        tokens, read, where_from = (), "as typed", "set by hand"
    else:
        model = models.ask(PAGE, "trained")
        vocabulary, tokens, where_from = model.vocabulary, model.tokens, model.where_from
        read = f"after the text {text.quoted(''.join(tokens))}"
        logits = forward(model.params, model.token_ids, model.config).logits[-1]
    if view == "choose the next token":
        temperature, top_k, top_p = cuts()
        chosen = sampling.choose(logits, temperature, top_k, top_p)
        token = controls.pick(PAGE, "token", "Token to take apart", text.options(vocabulary), int(chosen.order[0]))
    else:
        temperature, top_k, top_p = cuts()
        n_new = controls.whole(PAGE, "n_new", "Tokens to write", 1, 40, 20)
        seed = st.session_state["seed"]
        asked = (model.params, tuple(model.token_ids.tolist()), model.config, n_new)
        runs = [slow.written(f"{each}: {model.where_from}, {model.spread}", *asked, from_seed, temperature, top_k, top_p)
                for each, from_seed in (("first", seed), ("again", seed), ("first", seed + 1))]
        texts = ["".join(vocabulary[each.chosen] for each in run) for run in runs]
        lesson.words("\n".join(f"{label}: {text.visible(''.join(tokens))} → {text.visible(new)}" for label, new in zip(
            (f"seed {seed}", "again, the same seed", f"seed {seed + 1}"), texts, strict=True)))
        at = controls.pick(PAGE, "at_token", "Written token to take apart", text.options(texts[0]), 0)
        step = runs[0][at]
        logits, chosen, token = step.logits, step.sampling, step.chosen
        read = f"after {text.quoted(''.join(vocabulary[i] for i in step.window))}"
        figure = plots.bars(list(texts[0]), [each.sampling.probs[each.chosen] for each in runs[0]], y_range=(0, 1.12),
                            title="Probability that each written token was drawn with", y_title="probability", dark=lesson.dark())

        def take_step():
            """The written token whose bar was clicked."""
            point = controls.clicked(f"{PAGE}.written")
            if point is not None:
                st.session_state[f"{PAGE}.at_token"] = int(point["x"])

        lesson.picture(figure, f"{PAGE}.written", f"{n_new} written tokens, each with the probability that it was drawn with.", take_step)
        lesson.check("the same seed writes the same text", texts[0] != texts[1], 0)
    order, shown = chosen.order, [vocabulary[i] for i in chosen.order]

    def take_token(chart):
        """A callback for the bars of a picture: takes the token whose bar was clicked apart."""
        def take():
            point = controls.clicked(chart)
            if point is not None:
                st.session_state[f"{PAGE}.token"] = int(order[int(point["x"])])

        return take if view == VIEWS[0] else None

    left, right = st.columns(2)
    with left:
        figure = plots.bar_groups(shown, sampling.in_two(chosen), stacked=True, y_title="probability",
                                  title=f"Softmax at T = {temperature}, sorted; where it is cut", dark=lesson.dark())
        lesson.picture(figure, f"{PAGE}.sorted", f"{len(order)} probabilities from the largest down: {chosen.n_kept} kept with a mass of "
                       f"{chosen.mass:.4f}, {len(order) - chosen.n_kept} cut off.", take_token(f"{PAGE}.sorted"))
    with right:
        figure = plots.bars(shown, chosen.probs[order], title="What the next token is drawn with", y_title="probability", y_range=(0, 1.12),
                            digits=7 if len(order) <= 4 else 3, dark=lesson.dark())
        lesson.picture(figure, f"{PAGE}.kept", f"The kept probabilities divided by their sum, the largest {chosen.probs.max():.4f}.",
                       take_token(f"{PAGE}.kept"))
    if temperature == 0:
        lesson.say("Temperature 0 means **greedy**: the largest logit gets everything; of equal ones the smaller id. Nothing is divided "
                   "by 0, and the two cuts have nothing left to cut.")
    else:
        lesson.say(f"Of {len(order)} tokens top-k leaves **{chosen.n_top_k}** with a mass of **{chosen.mass_top_k:.4f}**. Of these top-p "
                   f"leaves **{chosen.n_kept}**, with **{chosen.mass_top_p:.4f}** of what step 2 left: the fewest that reach p. What "
                   f"is left has **{chosen.mass:.4f}** of the whole, and divided by that it sums to 1. Of equally probable tokens the "
                   "smaller id is kept first. Dividing log-probabilities by T instead of logits gives the same numbers, once renormalised.")
    if view == "write":
        lesson.say(f"This model reads **{model.config.n_ctx} tokens** at most. To write on, the **window slides**: each token is chosen "
                   f"after reading the last {model.config.n_ctx} alone, and all of them are computed anew each time. This "
                   "model's positions are learned and counted from 0 in every window. So once it slides, each token gets another position "
                   "vector, its key and value change, and a key-value cache does not help.")
    lesson.arithmetic(f"token {token} {text.quoted(vocabulary[token])} {read}",
                      arithmetic_model.explain_choice(logits, chosen, temperature, token))
    lesson.weights(f"The {'numbers' if typed else 'weights'} are {where_from}.")
    lesson.check("what the token is drawn with sums to 1", abs(chosen.probs.sum() - 1), 1e-12)
    lesson.check("the kept mass reaches p", max((top_p or 0) - chosen.mass_top_p, 0), 1e-9)
    lesson.ran(sampling.choose, *([writing.write] if view == "write" else []))
    lesson.script("Generation", (sampling.choose,), {"logits": logits, "settings": [temperature, top_k, top_p]}, """
        steps = choose(logits, *settings)
        show("order", steps.order)
        show("softmax at this temperature", steps.warmed)
        show("kept mass", steps.mass)
        show("probs", steps.probs)
        """, tokens)
lesson.source("Vaswani et al. 2017, section 3.1 (auto-regressive)", "Fan et al. 2018 (top-k)", "Holtzman et al. 2020 (top-p)",
              "Pope et al. 2022 (KV cache)", "Su et al. 2021 (rotary positions)", "Jiang et al. 2023, Mistral 7B (rolling cache)")
