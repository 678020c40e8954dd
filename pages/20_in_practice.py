"""In practice: a small trained model that sorts messages, what it can't know, and what has to be settled before others use it."""

from core import classifier, routing
from pages.shared import controls, lesson, router

PAGE = "in_practice"
VIEWS = {"one message": router.one, "many messages": router.many, "checklist": router.points}

lesson.say("An online academy gets messages. A small model is to sort them: is it about a **certificate**, a **payment**, **access**, the "
           "**content** of a course, or something **other**? This model is an encoder, as on the page Encoder, decoder, cross-attention: "
           "one block, two heads, trained by this course's own loop. Below it reads your message.")
lesson.ask(PAGE, "The model calls a message “certificate” with a probability of 0.99. What does that promise?",
           ["that it is right in 99 of 100 such cases", "nothing by itself"], 1,
           "The probability is a softmax over five kinds. Whether 0.99 means right in 99 of 100 cases has to be measured on messages like "
           "those that will come; see “many messages”, where foreign messages get such probabilities too.")
view = controls.choice(PAGE, "view", "Look at", list(VIEWS))
shown = VIEWS[view](PAGE)
message = router.read(router.EXAMPLE) if shown is None else shown
trace = message.trace

lesson.weights("Before its training the model is drawn at random; then a pattern or a share from its weights means nothing. It was "
               "trained on sentences written for this course, with some words made unknown at random. Shares and patterns say what was "
               "mixed, not why an answer came out.")
lesson.check("the probabilities of the kinds sum to 1", abs(trace.probs.sum() - 1), 1e-12)
lesson.check("the words' shares sum to 1", abs(trace.pool_pattern.sum() - 1), 1e-12)
lesson.check("every row of every head sums to 1", abs(trace.blocks[0].attention.pattern.sum(axis=-1) - 1).max(), 1e-12)
lesson.ran(classifier.forward, routing.without_each, routing.hand_over)
lesson.script("In practice", (classifier.forward, routing.without_each, classifier.sizes),
              {"params": message.params, "token_ids": message.token_ids, "stand_in": router.UNKNOWN,
               "sizes_of": list(router.arguments())}, """
    own = sizes(*sizes_of[:5], n_layers=sizes_of[5], d_ff=sizes_of[6])
    trace = forward(params, token_ids, own)
    show("probabilities", trace.probs)
    show("shares", trace.pool_pattern)
    show("with each word hidden", without_each(params, token_ids, own, stand_in))
    """, message.words)
lesson.source("Vaswani et al. 2017, section 3.1 (the encoder)", "Yang et al. 2016 (pooling by a learned query)",
              "Chow 1970 (answering only when sure)", "Jain & Wallace 2019", "Wiegreffe & Pinter 2019",
              "Liu et al. 2024 (where the important part stands)", "OWASP 2025 (prompt injection, leakage)")
