"""The one list of lessons: it drives the menu, the order, previous and next, the addresses and the tests."""

from typing import NamedTuple


class Lesson(NamedTuple):
    """One page."""

    file: str      # beside frame.py; its number is the order
    url: str       # the address, and what the page's parameters start with
    part: str      # heading in the menu
    title: str
    question: str  # what the page answers
    idea: str      # a few words for the map

    @property
    def key(self):
        """What the keys of this page's controls start with: "attention" in ?attention.row=…"""
        return self.url.replace("-", "_")


START = "Start here"
VECTORS = "Part 1 · From text to vectors"
ATTENTION = "Part 2 · Attention"
BLOCK = "Part 3 · The block"
MODEL = "Part 4 · The whole model"
COST = "Part 5 · Size and cost"
USE = "Part 6 · Use it, check yourself"

LESSONS = (
    Lesson("00_welcome.py", "welcome", START, "Welcome",
           "How does attention, the heart of the Transformer, work, and where does every number come from?", "the map"),
    Lesson("01_why_attention.py", "why-attention", VECTORS, "Why attention",
           "What does a recurrent network lose over a distance, and how does attention reach it in one step?", "one step, any distance"),
    Lesson("02_tokens.py", "tokens", VECTORS, "Tokens",
           "How does a text become pieces, and pieces become numbers?", "text to ids"),
    Lesson("03_embeddings.py", "embeddings", VECTORS, "Embeddings",
           "How does an id become a vector, and when are two vectors alike?", "ids to vectors"),
    Lesson("04_positions.py", "positions", VECTORS, "Positions",
           "Attention alone sees a set: how can a model tell which word comes first?", "who stands where"),
    Lesson("05_queries_keys_values.py", "queries-keys-values", ATTENTION, "Queries, keys, values",
           "Why does each word need three vectors to look at the others?", "three projections"),
    Lesson("06_attention.py", "attention", ATTENTION, "Attention",
           "How much does each word take from every other word, and how is that computed?", "compare, scale, mix"),
    Lesson("07_scaling.py", "scaling", ATTENTION, "Scaling and saturation",
           "Why are the scores divided by the square root of the head's width?", "why divide by √d"),
    Lesson("08_causal_mask.py", "causal-mask", ATTENTION, "Causal mask",
           "How is a model kept from looking at words that come later?", "hide the future"),
    Lesson("09_many_heads.py", "many-heads", ATTENTION, "Many heads",
           "Why look several times at once, and what does each look add?", "split, attend, join"),
    Lesson("10_normalisation.py", "normalisation", BLOCK, "Normalisation",
           "How are a token's numbers kept at one size, however deep the network is?", "same size, every token"),
    Lesson("11_feed_forward.py", "feed-forward", BLOCK, "Feed-forward",
           "What does each token do on its own, between two looks at the others?", "widen, bend, narrow"),
    Lesson("12_block.py", "block", BLOCK, "Residual stream and block",
           "How do attention and feed-forward work together in one block, and what do they write?", "read, add, read, add"),
    Lesson("13_encoder_decoder.py", "encoder-decoder", BLOCK, "Encoder, decoder, cross-attention",
           "How do two stacks work together, one that reads and one that writes?", "one reads, one writes"),
    Lesson("14_forward_pass.py", "forward-pass", MODEL, "Forward pass",
           "What happens between a text and the next character, array by array?", "text in, next token out"),
    Lesson("15_training.py", "training", MODEL, "Training",
           "How does a model learn, step by step, and what becomes of its attention?", "learn, step by step"),
    Lesson("16_generation.py", "generation", MODEL, "Generation",
           "How does a model write on, one chosen token after the other, and what does a cache save?", "choose, append, repeat"),
    Lesson("17_looking_inside.py", "looking-inside", MODEL, "Looking inside",
           "What do the heads of a trained model look at, and which of them do its answers need?", "heads, switched off"),
    Lesson("18_parameters.py", "parameters", COST, "Parameters",
           "How many numbers does a model hold, and where are they?", "every array, counted"),
    Lesson("19_memory_and_compute.py", "memory-and-compute", COST, "Memory and compute",
           "What does a model keep in memory, what does it compute, and how fast could that be?", "bytes, operations, limits"),
    Lesson("20_in_practice.py", "in-practice", USE, "In practice",
           "How does a small trained model sort real messages, and what does it take before others may rely on it?", "sort, doubt, check"),
    Lesson("21_misconceptions.py", "misconceptions", USE, "Misconceptions",
           "What is often said about attention, and what does a test on your own sentence say?", "nine beliefs, tested"),
    Lesson("22_quiz.py", "quiz", USE, "Quiz",
           "What do you remember, what can you compute, and what would you tell others?", "recall, compute, explain"),
    Lesson("23_glossary.py", "glossary", USE, "Glossary and sources",
           "What does each word mean, what is it called elsewhere, and where does it come from?", "words, names, sources"),
)


def by_url(url):
    """The lesson with this address; the first lesson for the bare address.

    >>> by_url("attention").title
    'Attention'
    """
    return next((lesson for lesson in LESSONS if lesson.url == url), LESSONS[0])


def neighbours(lesson):
    """The lessons before and after, None at the ends.

    >>> neighbours(LESSONS[0])[0] is None
    True
    """
    place = LESSONS.index(lesson)
    return (LESSONS[place - 1] if place else None), (LESSONS[place + 1] if place + 1 < len(LESSONS) else None)


def parts():
    """{part: [its lessons]}, in order."""
    return {part: [lesson for lesson in LESSONS if lesson.part == part] for part in dict.fromkeys(lesson.part for lesson in LESSONS)}
