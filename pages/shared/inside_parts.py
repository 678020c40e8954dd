"""Looking inside a model of the zoo: heads switched off, what each layer would say, what adds to a logit, and the models that differ."""

import numpy as np
import streamlit as st

from core import arithmetic_model, lens, looking, transformer, zoo
from core.sums import explain_sum
from pages.shared import charts, controls, inside, lesson, plots, slow, text
from pages.shared.inside import N_TEXTS

SAME = {"induction": "repeated", "induction_other": "otherwise", "induction_one_block": "one-block", "coreference": "pronoun",
        "coreference_uniform": "all-alike"}  # two tasks, several ways; and what they are called in a picture

# ------------------------------------------------------------------------------------------------------ switch heads off


def switching(page, look):
    """Some heads off: accuracy on many texts, and the answer on this one."""
    config, titles = look.recipe.config, look.titles
    lesson.say("A head that is **switched off** (*ablated*) writes nothing to the stream: its rows of w_o become 0, all else stays. If "
               "answers then go wrong, the head was needed for them.")
    off = []
    for column, title, (b, h) in zip(st.columns(len(titles)), titles, look.heads, strict=True):
        with column:
            if not controls.switch(page, f"on_{b}_{h}", title.capitalize(), True):
                off.append((b, h))
    position = look.position(page)
    asked = int((slow.inside_texts(look.name, N_TEXTS).targets >= 0).sum())

    def accuracy(*heads):
        return slow.inside_accuracy(look.name, look.weights, heads, N_TEXTS)

    whole, chosen, single = accuracy(), accuracy(*off), [accuracy(head) for head in look.heads]
    params = lens.without_heads(look.params, off, config.d_head)
    changed, wanted = transformer.forward(params, look.token_ids, config, all_probs=True), int(look.wanted[position])
    left, right = st.columns(2)
    with left:
        figure = plots.bars(["all", "switched", *(f"−{name}" for name in look.short)], [whole, chosen, *single], y_range=(0, 1.12),
                            title=f"Right answers on {N_TEXTS} other texts", y_title="accuracy", height=340, dark=lesson.dark())
        lesson.picture(figure, f"{page}.accuracy", f"Accuracy with all heads {whole:.3f}, as switched {chosen:.3f}, without one head each "
                       + ", ".join(f"{each:.3f}" for each in single) + ".")
    with right:
        series = {"all on": look.trace.probs[position], "as switched": changed.probs[position]}
        figure = plots.bar_groups(look.recipe.task.vocabulary, series,
                                  title=f"This text: the next token after position {position}", y_title="probability", height=340,
                                  dark=lesson.dark())
        lesson.picture(figure, f"{page}.answer", f"After position {position}: the largest probability is "
                       f"{look.trace.probs[position].max():.3f} with all heads and {changed.probs[position].max():.3f} as switched.")
    lesson.say("In the left picture −B1H0 means: all heads but head 0 of block 1. "
               f"Of {asked:,} answers the model gets **{whole:.3f}** right with all heads, and **{chosen:.3f}** "
               + (f"without {_and([titles[look.heads.index(each)] for each in off])}." if off else "as switched: no head is off."))
    lesson.words("\n".join(_answers(look, changed)))
    lesson.say(_needed(look, whole, single, accuracy))
    blind = looking.blind(slow.inside_texts(look.name, N_TEXTS))
    lesson.say(f"To compare: {blind.n_answers} different tokens are right answers in these texts. A blind guess among them is right in "
               f"**{blind.even:.3f}** of the cases" + ("." if np.isnan(blind.in_text) else
               f", one among those of them that the text has named by then in **{blind.in_text:.3f}**."))
    lesson.say("Off means 0 here. A head may also be replaced by what it writes on average, which takes less away (Michel, Levy & Neubig "
               "2019 use 0; in trained translation models and in BERT they found many heads that can go, one at a time).")
    lesson.arithmetic(f"{look.weights} weights, heads as switched, after position {position} {text.quoted(look.tokens[position])}: next "
                      f"token {text.quoted(look.recipe.task.vocabulary[wanted])}",
                      arithmetic_model.explain_model(changed, params, config, "logits", position, wanted)
                      + arithmetic_model.explain_model(changed, params, config, "probs", position, wanted))
    written = [abs(changed.blocks[b].attention.head_out[h]).max() for b, h in off]
    lesson.check("a head that is off writes nothing", max(written, default=0.0), 0.0)


def _answers(look, changed):
    """Lines of what this text's answers are with all heads and as switched."""
    vocabulary = look.recipe.task.vocabulary
    for i in look.asked[:8]:
        before, after = (f"{text.quoted(vocabulary[trace.probs[i].argmax()])} {trace.probs[i].max():.3f}"
                         for trace in (look.trace, changed))
        wants = "" if look.own else f" wants {text.quoted(vocabulary[look.wanted[i]])},"
        yield f"after {i} {text.quoted(look.tokens[i])}:{wants} all on says {before}, as switched says {after}"


def _needed(look, whole, single, accuracy):
    """What the bars say about the heads that look at the answer."""
    scores, worst = slow.inside_scores(look.name, look.weights, N_TEXTS), int(np.argmin(single))
    most, costly = float(scores.answer.max()), f" Without {look.titles[worst]} alone it is **{single[worst]:.3f}**."
    if look.weights == "random":
        return f"Before training it is right in {whole:.3f} of the cases, so there is nothing that a head could be needed for."
    if most < looking.LEAST:
        return (f"No head puts more than {most:.2f} of its weight on the answer, and accuracy is {whole:.3f}.{costly} A head may be needed "
                "without looking where one would expect.")
    named = looking.answer_heads(scores)
    costly = "" if look.heads[worst] in named else costly
    names, alone = [f"block {b} head {h}" for b, h in named], [single[look.heads.index(each)] for each in named]
    looks = _and([f"{scores.answer[each]:.2f}" for each in named])
    if len(named) == 1:
        return f"{names[0].capitalize()} looks at the answer most ({looks}). Without it accuracy is **{alone[0]:.3f}**.{costly}"
    together, each_alone = accuracy(*named), _and([f"{each:.3f}" for each in alone])
    found = (f"{_and(names).capitalize()} look at the answer ({looks}). Without one of them accuracy is {each_alone}; without all of them "
             f"it is **{together:.3f}**.")
    if whole - min(alone) < (whole - together) / 2:
        found += (f" Without any one of them accuracy falls by {whole - min(alone):.3f} at most, without all of them by "
                  f"{whole - together:.3f}: while one is off, **the others suffice** for most answers. Switching off one at a time would "
                  "have missed what they are needed for together.")
    return found + costly


def _and(names):
    """Names as an enumeration."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ------------------------------------------------------------------------------------------- what it would say, and why


def layers(page, look):
    """The logit lens: what the model would say before any block and after each."""
    config, vocabulary = look.recipe.config, list(look.recipe.task.vocabulary)
    lesson.say("The **logit lens** stops early (**start**: before any block; **B0**: after block 0, and so on). It takes the stream "
               "there, and does at once what the model does at its end, the last norm (with that stream's own mean and spread) and the "
               "table of logits (nostalgebraist 2020).")
    lesson.formula(r"p^{(b)} = \text{softmax}\big(\text{norm}(x^{(b)})\, W_U^\top\big)")
    stops = ["start", *(f"B{b}" for b in range(config.n_layers))]
    position = look.position(page)
    reading = lens.read_lens(look.trace, look.params, config, look.wanted)
    wanted = int(look.wanted[position])
    left, right = st.columns(2)
    with left:
        stop = controls.pick(page, "stop", "Stop (row)", text.options(stops), config.n_layers)
    with right:
        word = inside.follow(page, "word", "Next token (column)", text.options(vocabulary), wanted)

    def take():
        point = controls.clicked(f"{page}.lens")
        if point is not None:
            st.session_state[f"{page}.stop"], st.session_state[f"{page}.word"] = int(point["y"]), int(point["x"])

    figure = charts.heatmap(reading.probs[:, position], stops, vocabulary, title=f"The next token after position {position}", max_cell=52,
                            quantity="weight", name="probability", row_title="stop", column_title="next token",
                            clicked=(stop, word), **lesson.look(960))
    lesson.picture(figure, f"{page}.lens", f"Probabilities of {len(vocabulary)} next tokens after position {position} at {len(stops)} "
                   f"stops; the followed one has " + ", ".join(f"{p:.3f}" for p in reading.wanted[:, position]) + ".",
                   take)
    head = f"| stop | most probable | followed: {vocabulary[wanted]} | its rank |\n|:--|:--|--:|--:|\n"
    lesson.say(head + "\n".join(
        f"| {stop} | {vocabulary[probs[position].argmax()]} {probs[position].max():.3f} | {own[position]:.3f} | "
        f"{rank[position]} |" for stop, probs, own, rank in zip(stops, *reading, strict=True)))
    lesson.say(("On your own text nothing is marked as right, so the token that this model finds most probable in the end is followed. "
                if look.own or position not in look.asked else "The followed token is the right answer. ")
               + "Earlier streams were never trained to be read like this: a low rank early on does not mean that the answer is not there "
               "in another form.")
    if len(look.asked) > 1:
        figure = charts.heatmap(reading.wanted[:, look.asked], stops, [look.tokens[i] for i in look.asked], quantity="weight", max_cell=52,
                                title="Probability of the followed token, at every position" if look.own else
                                "Probability of the right token, at every position that is asked", name="probability", row_title="stop",
                                column_title="after", **lesson.look(960))
        lesson.picture(figure, f"{page}.every", f"The followed token's probability at {len(look.asked)} positions, numbers from "
                       f"{reading.wanted[:, look.asked].min():.3g} to {reading.wanted[:, look.asked].max():.3g}.")
    cut = transformer.forward(lens.cut_after(look.params, stop), look.token_ids, config, all_probs=True)
    lesson.arithmetic(f"{look.weights} weights, stopped at {stops[stop]}, after position {position} "
                      f"{text.quoted(look.tokens[position])}: next token {text.quoted(vocabulary[word])}",
                      arithmetic_model.explain_model(cut, look.params, config, "logits", position, word)
                      + arithmetic_model.explain_model(cut, look.params, config, "probs", position, word))
    lesson.check("the lens equals a model that ends there", abs(cut.probs - reading.probs[stop]).max(), 1e-12)
    lesson.check("after the last block it is what the model says", abs(reading.probs[-1] - look.trace.probs).max(), 1e-12)


def adds(page, look):
    """What every part of the model adds to one logit, beside another token's."""
    config, vocabulary, titles = look.recipe.config, list(look.recipe.task.vocabulary), text.options(look.recipe.task.vocabulary)
    lesson.say("Every part only adds to the stream, and the logit is a product of the stream (normed) with the token's row of the table. "
               "So with the norm's divisor held as it was, a logit is a **sum of what each part adds to it** (Elhage et al. 2021).")
    lesson.formula(r"\text{logit} = \sum_{\text{parts}} "
                   r"\left(\frac{\text{part} - \text{mean}}{\text{root}} \odot \text{gain}\right) \cdot w_{\text{token}}")
    lesson.say("The mean is that of the part's own numbers. The **root** is the divisor of the last norm, √(variance of the whole stream + "
               "a small constant), one number for all parts. The **gain** is that norm's learned factor for each feature, and w the "
               "token's row of the table.")
    left, middle, right = st.columns(3)
    with left:
        position = look.position(page)
    order = np.argsort(-look.trace.probs[position], kind="stable").tolist()
    wanted = int(look.wanted[position])
    with middle:
        token = inside.follow(page, "token", "Logit of", titles, wanted)
    with right:
        other = controls.pick(page, "other", "Compared with", titles, next(each for each in order if each != wanted))
    parts, others = (lens.logit_contributions(look.trace, look.params, look.recipe.config, position, each) for each in (token, other))
    logit, rival = (float(look.trace.logits[position, each]) for each in (token, other))
    series = {f"{text.quoted(vocabulary[token])}": list(parts.values())}
    if other != token:
        series[f"{text.quoted(vocabulary[other])}"] = list(others.values())
    labels = [name.replace("block ", "B").replace(" head ", "H").replace(" feed-forward", "FF").replace(" biases", "b") for name in parts]
    figure = plots.bar_groups(labels, series, title=f"What each part adds, after position {position}", y_title="adds to the logit",
                              height=380, dark=lesson.dark())
    lesson.picture(figure, f"{page}.adds", f"{len(parts)} parts add up to the logit {logit:.4g} of the chosen token; the largest part is "
                   f"{max(parts, key=parts.get)}.")
    lesson.say(f"The logit of “{vocabulary[token]}” is **{logit:.4f}**, that of “{vocabulary[other]}” **{rival:.4f}**. The parts whose "
               "two bars differ most make the difference: " + ", ".join(f"{name} {parts[name] - others[name]:+.3f}" for name in sorted(
                   parts, key=lambda name: -abs(parts[name] - others[name]))[:3]) + "." if other != token else
               f"The logit of “{vocabulary[token]}” is **{logit:.4f}**. Choose another token to compare with: softmax sees "
               "differences alone.")
    last = config.n_layers - 1
    lesson.say(f"B{last}H0 is head 0 of block {last}, " + (f"B{last}FF that block's feed-forward layer. " if config.d_ff else
               "and this model has no feed-forward layers. ") + "A bar holds what a part adds **directly**. A head of an "
               "early block may also write what a later head reads; that share stands in the later head's bar.")
    lesson.arithmetic(f"{look.weights} weights, after position {position} {text.quoted(look.tokens[position])}: the logit of "
                      f"{text.quoted(vocabulary[token])}", [explain_sum(f"logits[{position}, {token}]", parts, logit)])
    lesson.check("the parts of the other logit sum to it", abs(sum(others.values()) - rival), 1e-9)


def recipes():
    """How the models that are compared were made."""
    return [zoo.recipe(name) for name in SAME]


def another_way(page):
    """The models that answer as well in another way, and the one that never learns it, beside the plain ones."""
    looks = {name: inside.at(name) for name in SAME}
    titles = {name: look.recipe.title for name, look in looks.items()}
    scores = {name: slow.inside_scores(name, "trained", N_TEXTS).answer for name in SAME}
    right = {name: slow.inside_accuracy(name, "trained", (), N_TEXTS) for name in SAME}
    most = {name: float(scores[name].max()) for name in SAME}
    even = {name: slow.inside_even(name, N_TEXTS).answer for name in SAME}
    best = {name: np.unravel_index(scores[name].argmax(), scores[name].shape) for name in SAME}
    patterns = {name: looks[name].trace.blocks[best[name][0]].attention.pattern[best[name][1]] for name in SAME}
    lesson.picture(plots.bar_groups(list(SAME.values()), {
        "right answers": list(right.values()), "most weight of a head on the answer": list(most.values()),
        "the same, looking everywhere alike": list(even.values())}, title="Right answers, and how much a head looks at them",
        y_title="share", height=400, dark=lesson.dark()), f"{page}.ways",
        "; ".join(f"{titles[name]}: accuracy {right[name]:.3f}, weight {most[name]:.3f}" for name in SAME) + ".")

    def seeds(name, figure):
        return " · ".join(f"{value:.2f}" for value in zoo.load(name).card["over seeds"][figure])

    place, beside = st.columns([4, 5])  # two tables, each narrow enough for a phone
    with place:
        lesson.say("| in the picture | right answers | most weight | all alike |\n|:--|--:|--:|--:|\n" + "\n".join(
            f"| {SAME[name]} | {right[name]:.3f} | {most[name]:.2f} | {even[name]:.2f} |" for name in SAME))
    with beside:
        lesson.say("| model | right, three seeds | weight, three seeds |\n|:--|--:|--:|\n" + "\n".join(
            f"| {SAME[name]}: {titles[name]} | {seeds(name, 'accuracy')} | {seeds(name, 'looks')} |" for name in SAME))
    lesson.say(f"Measured here on {N_TEXTS} texts; the three seeds on 1,000 texts when the models were made.")
    lesson.say(f"The maps show one head of each model: the one with the **most weight on the answer** over those {N_TEXTS} texts (of "
               "equals the first), whether that is much or little.")
    for names, where in ((list(SAME)[:3], "repeated"), (list(SAME)[3:], "pronoun")):
        tokens = looks[names[0]].tokens
        lesson.words(f"{' '.join(tokens)}\n" + "\n".join(f"{titles[name]}: {_says(looks[name])}" for name in names))
        figure = charts.small_multiples([patterns[name] for name in names], tokens, tokens, most_across=3,
                                        titles=[f"{SAME[name]}: block {best[name][0]} head {best[name][1]}" for name in names],
                                        **lesson.look(960 if where == "repeated" else 800))
        lesson.picture(figure, f"{page}.{where}", "The head that looks most at the answer, on this text: " + ", ".join(
            f"{titles[name]} (block {best[name][0]} head {best[name][1]})" for name in names) + f"; {len(tokens)} tokens.")
        for name in names:
            lesson.say(f"**{titles[name]}.** {looks[name].recipe.story}")
    sharp = float(patterns["induction_other"].max(axis=-1).mean())
    lesson.say(f"A sharp pattern is no proof either. The head of “{titles['induction_other']}” puts **{sharp:.2f}** of its weight on a "
               f"single place, on average over this text, and its weight on the answer is **{most['induction_other']:.2f}**. What such a "
               "head is for, its pattern does not say.")
    lesson.say("**Right answers do not say how they were found.** Of two models with the same answers one has a head that looks where one "
               "would, the other has none. And a pattern says what was mixed, **not why** an answer was given (Jain & Wallace 2019; "
               "Wiegreffe & Pinter 2019 discuss what it may still say). Switching heads off and adding up logits are tests; looking at a "
               "pattern is a guess.")
    uniform = patterns["coreference_uniform"]
    lesson.check("the head without scores looks everywhere alike", abs(uniform - looking.even_pattern(len(uniform))).max(), 1e-12)


def _says(look):
    """What a model answers where the text asks last, and whether that is right."""
    i, vocabulary = look.asked[-1], look.recipe.task.vocabulary
    said = int(look.trace.probs[i].argmax())
    return (f"after {i} {text.quoted(look.tokens[i])} it says {text.quoted(vocabulary[said])} ({look.trace.probs[i, said]:.3f}), "
            + ("right" if said == look.wanted[i] else f"wrong: {text.quoted(vocabulary[look.wanted[i]])}"))
