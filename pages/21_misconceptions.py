"""Misconceptions: nine beliefs about attention, each tested on a ready-made text and on the person's own."""

import streamlit as st

from pages.shared import beliefs, controls, lesson, syllabus, text

PAGE = "misconceptions"
BELIEFS = beliefs.BELIEFS

own_tokens, notes = controls.own_tokens()
lesson.remarks(notes)
lesson.say("These nine sentences are often said. Each of them can be tested, and here the test runs before your eyes: first on a text "
           "that is sure to refute it, then on your own sentence above. On your own text the verdict may be **not shown here**: that a "
           "text does not refute a belief does not make it true.")
number = controls.pick(PAGE, "belief", "Belief", [f"{i + 1}. {belief.said}" for i, belief in enumerate(BELIEFS)])
belief = BELIEFS[number]
lesson.ask(PAGE, f"“{belief.said}.” Is it so?", ["yes", "not in general"], 1,
           "One text on which it is wrong is enough, and the test below shows one.")

lesson.heading(belief.said)
result, _ = beliefs.tried(number, belief.preset, beliefs.SEED)
if belief.preset:
    lesson.words(f"Ready-made text: {belief.preset}")
belief.draw(PAGE, "preset", result)
lesson.say(f"{belief.tell(result)} Verdict: **{beliefs.verdict(result)}**. {belief.holds}")

mine, seed, own, what = " ".join(own_tokens), st.session_state["seed"], None, "sentence"
if number == beliefs.WIDTH_ONLY:
    lesson.heading("Your own width")
    d_model = controls.stop(PAGE, "d_model", "Width of the model", (8, 16, 24, 48, 96, 192), 48)
    own, what = beliefs.heads_of(d_model), "width"
    belief.draw(PAGE, "own", own)
    lesson.say(f"{belief.tell(own)} Verdict: **{beliefs.verdict(own)}**.")
elif mine:
    lesson.heading("Your own sentence")
    own, what_to_change = beliefs.tried(number, mine, seed)
    lesson.remarks([what_to_change] if what_to_change else [])
    if own is not None:
        belief.draw(PAGE, "own", own)
        lesson.say(f"{belief.tell(own)} Verdict: **{beliefs.verdict(own)}**.")
else:
    lesson.say("Type a sentence of your own at the top of the page to run the same test on it.")
shown = result if own is None else own
lesson.arithmetic(f"The sum behind the verdict on {'the ready-made text' if own is None else 'your own ' + what}", belief.behind(shown))
lesson.link(syllabus.by_url(belief.url), f"Take such numbers apart: **{syllabus.by_url(belief.url).title}**")

lesson.heading("All nine")
ready = beliefs.presets()
yours = beliefs.all_verdicts(mine, seed) if mine else ["–"] * len(BELIEFS)
yours[beliefs.WIDTH_ONLY] = "has a width of its own"
lesson.say("| belief | ready-made text | your sentence |\n|:--|:--|:--|\n" + "\n".join(
    f"| {each.said} | {one} | {other} |" for each, one, other in zip(BELIEFS, ready, yours, strict=True)))

lesson.weights("Vectors and matrices of the tests on order, meaning, patterns and masks are drawn at random, and a pattern from them means "
               "nothing: the tests are about the arithmetic, which is the same for trained weights. The model that sorts messages is the "
               "trained one of the page In practice.")
lesson.check("the ready-made text refutes the belief", beliefs.gap(result), 0)
lesson.check("ready-made texts that refute their belief: all nine", float(ready.count("refuted here") - len(BELIEFS)), 0)
lesson.ran(result.function)
lesson.script("Misconceptions", (result.function, *beliefs.makers(number)), beliefs.script_values(number, result), f"""
    found = {beliefs.call(number, result)}
    show("refuted", [found.refuted])
    for name, figure in found.figures.items():
        show(name, [figure])
    for name, array in found.arrays.items():
        show(name, array)
    """, [text.short(word, 100) for word in own_tokens])
lesson.source("Vaswani et al. 2017, section 3.2", "Jain & Wallace 2019, section 4", "Wiegreffe & Pinter 2019",
              "Sennrich, Haddow & Birch 2016, section 3.2", "Liu et al. 2024 (long contexts)")
