"""Looking inside: what the heads of small trained models do, what they are needed for, and what can't be read off them."""

from core import lens, looking, transformer
from core.config import ModelConfig
from pages.shared import controls, inside, inside_parts, lesson

PAGE = "looking_inside"
VIEWS = {"heads": inside.heads, "switch heads off": inside_parts.switching, "logit lens": inside_parts.layers,
         "what adds to a logit": inside_parts.adds}
OTHER = "same answers, another way"

lesson.say("Random weights make random patterns. These models are **trained**: each learned one small task from generated texts, and its "
           "answers are right or wrong. So one can ask what its heads look at, which of them the answers need, and from which block on "
           "the answer is there. Small as they are, they hold what was found in large models: heads that look at the token before, heads "
           "that look at what followed last time, heads that look from a pronoun at what it asks for.")
lesson.ask(PAGE, "Two models answer every text of a task right. Does each have a head that looks at the answer?",
           ["yes, else it could not be right", "not necessarily"], 1, f"The view “{OTHER}” shows models that are right without such a "
           "head. One has to look, and then to test by switching heads off.")
view = controls.choice(PAGE, "view", "Look at", (*VIEWS, OTHER))
if view == OTHER:
    look = inside.at("coreference_uniform")
    inside_parts.another_way(PAGE)
else:
    look = inside.ask(PAGE)
    VIEWS[view](PAGE, look)

config, models = look.recipe.config, inside_parts.recipes() if view == OTHER else [look.recipe]
lesson.weights("Before its training each model is drawn at random; a pattern from those weights means nothing. Then this course's own "
               "loop trains it on texts that the course makes up: " + "; ".join(
                   f"“{recipe.title}” (seed {recipe.settings.seed}), {recipe.settings.n_steps} steps of {recipe.settings.batch_size} texts"
                   for recipe in models) + ". What is measured here is measured on other texts.")
lesson.check("the probabilities after every token sum to 1", abs(look.trace.probs.sum(axis=-1) - 1).max(), 1e-12)
lesson.check("the heads' shares sum to what attention writes", max(
    abs(block.attention.head_out.sum(axis=0) - block.attn_out).max() for block in look.trace.blocks), 1e-9)
lesson.check("what all parts add is the logit", abs(sum(lens.logit_contributions(
    look.trace, look.params, config, look.asked[-1], int(look.wanted[look.asked[-1]])).values())
    - look.trace.logits[look.asked[-1], look.wanted[look.asked[-1]]]), 1e-9)
lesson.ran(lens.previous_token_score, lens.induction_score, looking.head_scores, lens.without_heads, lens.logit_lens,
           lens.logit_contributions)
lesson.script("Looking inside", (transformer.forward, lens.previous_token_score, lens.induction_score, lens.read_lens,
                                 lens.logit_contributions, ModelConfig),
              {"params": look.params, "token_ids": look.token_ids, "config": config, "wanted": look.wanted, "position": look.asked[-1]}, """
    trace = forward(params, token_ids, config, all_probs=True)
    for number, block_trace in enumerate(trace.blocks):
        for head, pattern in enumerate(block_trace.attention.pattern):
            show(f"pattern of block {number} head {head}", pattern)
            show(f"previous-token score of block {number} head {head}", previous_token_score(pattern))
            show(f"induction score of block {number} head {head}", induction_score(pattern, token_ids))
    show("lens", read_lens(trace, params, config, wanted).probs[:, position])
    contributions = logit_contributions(trace, params, config, position, int(wanted[position]))
    show("adds", list(contributions.values()))
    show("logit", trace.logits[position, wanted[position]])
    """, look.tokens)
lesson.source("Vaswani et al. 2017, section 3.2", "Elhage et al. 2021", "Olsson et al. 2022 (induction heads)",
              "nostalgebraist 2020 (logit lens)", "Michel, Levy & Neubig 2019 (heads switched off)",
              "Linzen, Dupoux & Goldberg 2016 (agreement)", "Jain & Wallace 2019", "Wiegreffe & Pinter 2019")
