"""The controls: what an address may hold, what becomes of it, and that settings stay while a person walks about."""

import functools
from typing import NamedTuple

import pytest

from core import pasted
from pages.shared import controls
from pages.shared.text import visible
from tests.page_tools import TOKEN_PAGES, URLS, asked, go, notes, pictures, shown, visit, widget


class Control(NamedTuple):
    """A control: where it is, its value in the plain page, and another value, as the address writes it and as it is held."""

    url: str
    key: str
    default: object
    written: str
    held: object
    needs: dict = {}  # what else the address must hold for the control to be there

    @property
    def is_text(self):
        """Does it take any short text?"""
        return isinstance(self.default, str) and self.key.split(".")[-1] in FREE


FREE = ("scores", "large", "x", "w_q", "w_k", "w_v", "w_in", "w_out", "gain", "offset", "target", "date", "prompt", "numbers", "words",
        "find", "message", "ticked", "config")
ANY_TEXT = (".target", ".date", ".message", ".ticked", ".find", ".config")  # of these the pages' own tests say what becomes of an odd text
OWN, EDIT, PADDED = {"text": "a b c d"}, "true", {"causal_mask.mask": "padding"}
FILE = '{"model_type":"gpt2","vocab_size":9,"n_positions":4,"n_embd":8,"n_head":2,"n_layer":1}'
IDENTITY = "1 0 0; 0 1 0; 0 0 1; 0 0 0"


def editor(url, page):
    needs = {f"{page}.edit": "true"}
    return [Control(url, f"{page}.{name}", default, written, written, needs) for name, default, written in (
        ("x", "1 0 1 0; 0 1 0 1; 1 1 0 0", "1 2 3 4; 0 0 0 0; 1 1 1 1"), ("w_q", "1 0 0; 0 1 0; 1 0 1; 0 1 0", IDENTITY),
        ("w_k", "0 1 0; 1 0 1; 0 0 1; 1 1 0", IDENTITY), ("w_v", "1 0 0; 0 1 0; 0 0 1; 1 1 1", IDENTITY))]


def of_page(url, values, needs=None):
    """{name: (default, as written, as held)} as Controls."""
    return [Control(url, f"{url.replace('-', '_')}.{name}", *each, needs or {}) for name, each in values.items()]


CONTROLS = [
    *(Control(url, key, default, written, held) for url in ("welcome", "attention") for key, default, written, held in (
        ("tables", False, "true", True), ("seed", 1, "1000", 1000), ("text", "", "to be", "to be"))),
    Control("welcome", "welcome.path", "I want to learn", "I teach", "I teach"),
    *(Control(url, f"{page}.example", 0, written, 1) for url, page, written in (
        ("queries-keys-values", "queries_keys_values", "Four tokens: Ali makan nasi lemak"),
        ("attention", "attention", "Four tokens: Ali makan nasi lemak"),
        ("causal-mask", "causal_mask", "Bank: the bank refused the loan …"))),
    *(Control(url, f"{page}.positions", True, "false", False, OWN) for url, page in (
        ("queries-keys-values", "queries_keys_values"), ("attention", "attention"), ("causal-mask", "causal_mask"),
        ("many-heads", "many_heads"))),
    *(Control(url, f"{page}.edit", False, "true", True) for url, page in (
        ("queries-keys-values", "queries_keys_values"), ("attention", "attention"))),
    *editor("queries-keys-values", "queries_keys_values"), *editor("attention", "attention"),
    Control("queries-keys-values", "queries_keys_values.tied", False, "true", True),
    Control("queries-keys-values", "queries_keys_values.guess", None, "no", "no"),
    Control("queries-keys-values", "queries_keys_values.stage", "query", "score", "score"),
    Control("queries-keys-values", "queries_keys_values.row", 0, "2 · it", 2),
    Control("queries-keys-values", "queries_keys_values.column", 0, "1 · 1", 1),
    Control("queries-keys-values", "queries_keys_values.d_model", 8, "32", 32, OWN),
    Control("queries-keys-values", "queries_keys_values.d_head", 4, "16", 16, OWN),
    Control("attention", "attention.guess", None, "2 times", "2 times"),
    Control("attention", "attention.stage", "normalise", "mix", "mix"),
    Control("attention", "attention.row", 0, "1 · bowled", 1),
    Control("attention", "attention.column", 0, "2 · it", 2),
    Control("scaling", "scaling.guess", None, "4-fold", "4-fold"),
    Control("scaling", "scaling.d", 64, "512", 512),
    Control("scaling", "scaling.scaled", True, "false", False),
    Control("scaling", "scaling.scores", "2 1 0.5 -1", "1 2 3 4", "1 2 3 4"),
    Control("scaling", "scaling.temperature", 1.0, "0.5", 0.5),
    Control("scaling", "scaling.row", 0, "3 · -1", 3),
    Control("scaling", "scaling.column", 0, "1 · 1", 1),
    Control("scaling", "scaling.large", "1000 1001 1002", "88 89 90", "88 89 90"),
    Control("causal-mask", "causal_mask.mask", "causal", "blind row", "blind row"),
    Control("causal-mask", "causal_mask.n_padding", 1, "3", 3, PADDED),
    Control("causal-mask", "causal_mask.guess", None, "1 or less", "1 or less"),
    Control("causal-mask", "causal_mask.boost", 0, "1000", 1000),
    Control("causal-mask", "causal_mask.stage", "weight", "mix", "mix"),
    Control("causal-mask", "causal_mask.row", 1, "2 · nasi", 2),
    Control("causal-mask", "causal_mask.column", 0, "3 · lemak", 3),
    Control("causal-mask", "causal_mask.changed", 3, "0 · Ali", 0),
    Control("many-heads", "many_heads.n_heads", 2, "4", 4),
    Control("many-heads", "many_heads.d_model", 16, "64", 64, OWN),
    Control("many-heads", "many_heads.guess", None, "no change", "no change"),
    Control("many-heads", "many_heads.head", "head 0", "head 1", "head 1"),
    Control("many-heads", "many_heads.stage", "weight", "output", "output"),
    Control("many-heads", "many_heads.row", 3, "1 · t1", 1),
    Control("many-heads", "many_heads.column", 0, "2 · t2", 2),
    *of_page("why-attention", {
        "example": (0, "The bowler whom the umpire had warned twice before the tea break said that he was sorry", 1),
        "guess": (None, "about 50 %", "about 50 %"), "earlier": (4, "1 · umpire", 1), "later": (6, "7 · overstepped", 7),
        "rho": (0.9, "1.25", 1.25), "width": (8, "16", 16), "tanh": (False, "true", True), "row": (4, "2 · warned", 2),
        "column": (0, "3 · 3", 3)}),
    *of_page("tokens", {
        "example": (0, "Emoji", 1), "tokenizer": ("byte pairs", "words", "words"),
        "training": ("a story", "the text itself", "the text itself"), "n_merges": (40, "100", 100),
        "guess": (None, "words", "words"), "piece": (10, "1 · he", 1)}),
    *of_page("embeddings", {
        "example": (0, "Four tokens: Ali makan nasi lemak", 1), "guess": (None, "not at all", "not at all"),
        "stage": ("vector", "logit", "logit"), "row": (0, "1 · bank", 1), "column": (1, "2 · 2", 2), "id": (1, "7", 7)}),
    Control("embeddings", "embeddings.d_model", 8, "4", 4, OWN),
    Control("positions", "positions.scheme", "sinusoidal", "ALiBi", "ALiBi", {"text": "a b"}),
    Control("positions", "positions.part", "waves", "shift", "shift", {"text": "a b c"}),
    *of_page("positions", {
        "guess": (None, "it changes", "it changes"), "n_positions": (50, "20", 20),
        "d_model": (16, "5", 5), "row": (1, "3 · 3", 3), "column": (0, "2 · 2", 2)}),
    *of_page("positions", {"p": (10, "3", 3), "k": (5, "7", 7), "stage": ("vectors", "R(k)", "R(k)")}, {"positions.part": "shift"}),
    *of_page("positions", {"n_ctx": (8, "12", 12), "first": (0, "9", 9)}, {"positions.scheme": "learned table"}),
    *of_page("positions", {"layout": ("half", "mixed", "mixed"), "vectors": ("by hand", "random", "random"), "moved": (100, "1000", 1000)},
             {"positions.scheme": "rotary"}),
    *of_page("positions", {"n_heads": (8, "3", 3), "head": (0, "2", 2)}, {"positions.scheme": "ALiBi"}),
    *of_page("positions", {"example": (0, "Bumrah bowled it", 1), "change": ("turned round", "shuffled", "shuffled"),
                           "positions": (False, "true", True), "causal": (False, "true", True)}, {"positions.scheme": "order experiment"}),
    Control("positions", "positions.shuffle", 1, "5", 5, {"positions.scheme": "order experiment", "positions.change": "shuffled"}),
    *of_page("positions", {"one": (0, "1 · bites", 1), "other": (2, "0 · dog", 0)},
             {"positions.scheme": "order experiment", "positions.change": "two words swapped"}),
    *of_page("normalisation", {
        "example": (0, "Bank: the bank refused the loan …", 1), "edit": (False, "true", True), "eps": (1e-5, "0.001", 0.001),
        "factor": (1, "10", 10), "guess": (None, "10 times as much", "10 times as much"), "stage": ("LayerNorm", "RMSNorm", "RMSNorm"),
        "row": (0, "1 · ramp", 1), "column": (0, "2 · 2", 2), "changed": (3, "0 · one", 0)}),
    Control("normalisation", "normalisation.d_model", 8, "4", 4, OWN),
    *of_page("normalisation", {"x": ("1 0 0 0; 1 2 3 4; 0.0001 -0.0001 0.0001 -0.0001; 2 2 2 2",
                                     *["1 0 0 0; 0 1 0 0; 0 0 1 0; 0 0 0 1"] * 2),
                               "gain": ("1 1 1 1", *["1 2 3 4"] * 2), "offset": ("0 0 0 0", *["0 1 0 -1"] * 2)},
             {"normalisation.edit": "true"}),
    *of_page("feed-forward", {
        "example": (0, "Bank: the bank refused the loan …", 1), "edit": (False, "true", True), "bend": ("ReLU", "SwiGLU", "SwiGLU"),
        "guess": (None, "all rows", "all rows"), "stage": ("bend", "narrow", "narrow"), "row": (0, "1 · bowled", 1),
        "column": (0, "2 · 2", 2), "changed": (2, "0 · Bumrah", 0)}),
    *of_page("feed-forward", {"d_model": (4, "8", 8), "wider": (4, "2", 2)}, OWN),
    *of_page("feed-forward", {"x": ("1 0 1 0; 0 1 0 1; 1 1 0 0", *["1 2 3 4; 0 0 0 0; 1 1 1 1"] * 2),
                              "w_in": ("1 0 -1 2 0 1; 0 1 1 -1 1 0; -1 1 0 0 1 -2; 1 -1 0 1 -1 0", *["; ".join(["1 0 0 0 0 1"] * 4)] * 2),
                              "w_out": ("1 0 0 1; 0 1 0 0; 0 0 1 0; 1 0 0 -1; 0 -1 1 0; 0 0 1 1", *["; ".join(["1 0 0 1"] * 6)] * 2)},
             {"feed_forward.edit": "true"}),
    *of_page("block", {
        "example": (0, "Characters: nasi␣", 1), "norm_position": ("pre", "post", "post"), "norm": ("LayerNorm", "none", "none"),
        "residual": (True, "false", False), "causal": (True, "false", False), "guess": (None, "it can't be said", "it can't be said"),
        "stage": ("between", "norm 2", "norm 2"), "row": (0, "1 · bank", 1), "column": (0, "2 · 2", 2)}),
    Control("block", "block.view", "one block", "what was written", "what was written", {"text": "a b"}),
    Control("block", "block.other", "the norm elsewhere", "the causal mask switched", "the causal mask switched",
            {"block.view": "side by side"}),
    Control("block", "block.n_layers", 12, "3", 3, {"block.view": "many blocks"}),
    *of_page("block", {"d_model": (16, "8", 8), "n_heads": (2, "4", 4), "bend": ("GELU, tanh form", "SwiGLU", "SwiGLU")}, OWN),
    *of_page("encoder-decoder", {
        "target": ("die Bank lehnte", "eins zwei", "eins zwei"), "norm_position": ("post", "pre", "pre"), "n_layers": (2, "3", 3),
        "n_heads": (2, "4", 4), "d_model": (16, "8", 8), "layer": ("layer 0", "layer 1", "layer 1"), "head": ("head 0", "head 1", "head 1"),
        "guess": (None, "source × target", "source × target"), "stage": ("cross", "encoder", "encoder"), "row": (3, "1 · die", 1),
        "column": (0, "2 · refused", 2), "changed": (4, "0 · the", 0)}),
    *of_page("training", {
        "guess": (None, "about ln V", "about ln V"), "task": (0, "Digits backwards", 1), "speed": (5, "20", 20), "n_layers": (1, "2", 2),
        "n_heads": (2, "4", 4), "d_model": (16, "64", 64), "feed_forward": (True, "false", False), "rate": (0.01, "0.1", 0.1),
        "n_steps": (300, "50", 50), "batch_size": (32, "16", 16), "no_scaled": (False, "true", True), "no_causal": (False, "true", True),
        "no_residual": (False, "true", True), "no_norm": (False, "true", True), "no_rate": (False, "true", True),
        "row": (0, "1 · a", 1), "column": (0, "2 · 2", 2)}),
    Control("training", "training.array", 0, "w_pos", 1, {"text": "a b"}),
    Control("training", "training.sample", 0, "text 1: 9 6 7 0 5 2 7 3 > 3 7 2 5 0 7 6", 1, {"training.task": "Digits backwards"}),
    Control("encoder-decoder", "encoder_decoder.weights", "random", "trained on dates", "trained on dates"),
    Control("encoder-decoder", "encoder_decoder.date", "12 March 1998", "1 May 1805", "1 May 1805",
            {"encoder_decoder.weights": "trained on dates"}),
    Control("encoder-decoder", "encoder_decoder.view", "what comes next", "three families", "three families", {"text": "a b"}),
    *of_page("forward-pass", {
        "weights": ("random", "trained", "trained"), "prompt": ("nasi ", "ikan ", "ikan "), "guess": (None, *["it can't be said"] * 2),
        "head": ("head 0", "head 1", "head 1"), "stage": ("token ids", "mixed", "mixed"), "row": (4, "2 · s", 2)}),
    Control("forward-pass", "forward_pass.column", 0, "1 · 1", 1, {"forward_pass.stage": "q"}),
    *of_page("forward-pass", {"how": ("change the last token", "append a token", "append a token"), "new": (1, "5 · l", 5)},
             {"forward_pass.view": "later tokens"}),
    Control("forward-pass", "forward_pass.view", "step by step", "before training", "before training", {"text": "a b"}),
    *(control for url in ("forward-pass", "generation") for control in of_page(url, {
        "n_layers": (1, "3", 3), "n_heads": (2, "4", 4), "d_model": (16, "32", 32), "spread": (0.1, "0.5", 0.5)}, OWN)),
    Control("forward-pass", "forward_pass.block", "block 0", "block 1", "block 1", OWN | {"forward_pass.n_layers": "2"}),
    Control("generation", "generation.view", "choose the next token", "write", "write", {"text": "a b"}),
    *of_page("generation", {
        "weights": ("trained", "random", "random"), "prompt": ("nasi ", "ikan ", "ikan "), "guess": (None, "3", "3"),
        "temperature": (1, "0.5", 0.5), "top_k": (0, "2", 2), "top_p": (1.0, "0.5", 0.5),
        "token": (5, "0 · ␣", 0)}),
    Control("generation", "generation.source", "of the model", "typed in", "typed in", {"text": "a"}),
    *of_page("generation", {"kind": ("logits", "probabilities", "probabilities"), "numbers": ("2 1 0", "3 2 1 0", "3 2 1 0")},
             {"generation.source": "typed in"}),
    *of_page("generation", {"n_new": (20, "30", 30), "at_token": (0, "1 · e", 1)}, {"generation.view": "write"}),
    *of_page("generation", {"scheme": ("learned", "rotary", "rotary"),
                            "precision": ("float64", "float32", "float32"), "n_steps": (3, "9", 9), "step": (1, "3", 3)},
             {"generation.view": "KV cache"}),
    Control("many-heads", "many_heads.example", 0, "Trained: Subject and verb", 1),
    *(Control(url, f"{page}.weights", "trained", "random", "random", {f"{page}.example": "Trained: Subject and verb"})
      for url, page in (("attention", "attention"), ("many-heads", "many_heads"), ("embeddings", "embeddings"))),
    *of_page("parameters", {
        "guess": (None, "attention", "attention"), "vocab_size": (65, "50257", 50257), "n_ctx": (64, "1024", 1024),
        "d_model": (64, "768", 768), "n_layers": (2, "12", 12), "n_heads": (4, "12", 12), "n_kv_heads": ("as heads", "3", "3"),
        "d_head": ("d / heads", "32", "32"), "d_ff": ("4 · d", "1536", "1536"), "bend": (0, "SwiGLU", 3),
        "norm": ("LayerNorm", "RMSNorm", "RMSNorm"), "scheme": ("learned", "rotary", "rotary"), "tied": (True, "false", False),
        "biases": ("everywhere", "nowhere", "nowhere"), "other": (0, "gpt2", 1), "open": (0, "embeddings", 1)}),
    *of_page("parameters", {"what": ("my own sizes", "a published model", "a published model"), "view": ("part by part", "heads", "heads")},
             {"text": "a b"}),
    Control("parameters", "parameters.scale", "shares of each", "numbers", "numbers", {"parameters.other": "gpt2"}),
    Control("parameters", "parameters.sum_of", 0, "gpt2-medium", 2, {"parameters.view": "12 · d²"}),
    Control("parameters", "parameters.shared", 0, "3 key/value heads", 3, {"parameters.view": "heads"}),
    Control("parameters", "parameters.model", 0, "llama-3-8b", 10, {"parameters.what": "a published model"}),
    Control("parameters", "parameters.config", pasted.READY["GPT-2 small"], FILE, FILE, {"parameters.what": "a pasted config.json"}),
    *of_page("looking-inside", {
        "guess": (None, "not necessarily", "not necessarily"), "model": (0, "Umpire, bowler, batter", 1), "number": (0, "5", 5),
        "weights": ("trained", "random", "random"), "words": ("", "she wore blue", "she wore blue"),
        "head": ("block 1 head 1", "block 0 head 0", "block 0 head 0"), "row": (15, "1 · king", 1), "column": (13, "2 · wore", 2)}),
    *of_page("looking-inside", {"view": ("heads", "logit lens", "logit lens")}, {"text": "a b"}),
    *of_page("looking-inside", {f"on_{b}_{h}": (True, "false", False) for b in (0, 1) for h in (0, 1, 2)},
             {"looking_inside.view": "switch heads off"}),
    *of_page("looking-inside", {"position": (15, "3 · black", 3), "stop": (2, "0 · start", 0), "word": (9, "13 · black", 13)},
             {"looking_inside.view": "logit lens"}),
    *of_page("looking-inside", {"token": (9, "3 · king", 3), "other": (13, "4 · queen", 4)},
             {"looking_inside.view": "what adds to a logit"}),
    *of_page("in-practice", {"view": ("one message", "many messages", "many messages")}, {"text": "a b"}),
    *of_page("in-practice", {
        "guess": (None, "nothing by itself", "nothing by itself"), "example": (0, "Wake me at seven", 1),
        "weights": ("trained", "random", "random"), "message": ("", "Where is it?", "Where is it?"),
        "stage": ("probability", "head 1", "head 1"), "row": (0, "0 · message", 0), "column": (0, "2 · access", 2)}),
    *of_page("in-practice", {"threshold": (0.7, "0.9", 0.9), "right": (3, "payment", 1), "answer": (0, "other", 4)},
             {"in_practice.view": "many messages"}),
    *of_page("in-practice", {"ticked": ("", "1 3", "1 3")}, {"in_practice.view": "checklist"}),
    Control("quiz", "quiz.view", "recall", "questions", "questions", {"text": "a b"}),
    *of_page("quiz", {"recall": ("1", "5", "5"), "guess": (None, "both alike", "both alike")}),
    *of_page("quiz", {"topic": ("everything", "the block", "the block"), "code": ("1", "77", "77"), "number": ("1", "12", "12"),
                      "version": ("0", "3", "3")}, {"quiz.view": "questions"}),
    *of_page("misconceptions", {"belief": (0, "4. A token is a word", 3), "guess": (None, "yes", "yes")}),
    *of_page("misconceptions", {"d_model": (48, "96", 96)}, {"misconceptions.belief": "9. More heads, more parameters"}),
    *of_page("glossary", {"find": ("", "n_embd", "n_embd"), "page": (0, "Welcome", 1),
                          "code": ("nanoGPT", "GPT-2's code", "GPT-2's code")}),
    *of_page("memory-and-compute", {"view": ("KV cache", "memory", "memory")}, {"text": "a b"}),
    *of_page("memory-and-compute", {
        "model": (11, "gpt2", 1), "context": (8192, "1024", 1024), "batch": (1, "16", 16),
        "weights": ("16 bit", "int4", "int4"), "cache": ("16 bit", "int8", "int8"), "memory": (24, "80", 80),
        "cache_number": (0, "what fits", 1), "guess": (None, "both the same", "both the same")}),
    *of_page("memory-and-compute", {"d_model": (4096, "512", 512), "d_ff": (16384, "2048", 2048), "n_layers": (32, "6", 6),
                                    "vocab_size": (131072, "1024", 1024), "n_heads": (32, "64", 64), "d_head": (128, "80", 80),
                                    "n_kv_heads": (8, "1", 1)}, {"memory_and_compute.model": "your own sizes"}),
    *of_page("memory-and-compute", {"pattern": (True, "false", False), "memory_number": (0, "learn, float32: optimizer", 10)},
             {"memory_and_compute.view": "memory"}),
    *of_page("memory-and-compute", {"trained_on": (1000, "15000", 15000), "work_number": (0, "decode", 1)},
             {"memory_and_compute.view": "FLOPs"}),
    *of_page("memory-and-compute", {"machine": ("NVIDIA A100 80GB SXM", "NVIDIA H100 SXM", "NVIDIA H100 SXM"),
                                    "pass_number": (0, "decode, batch 1", 1)}, {"memory_and_compute.view": "roofline"}),
    *of_page("memory-and-compute", {"n": (50, "512", 512), "d": (512, "64", 64), "layer_number": (0, "ratio of the two mixings", 4)},
             {"memory_and_compute.view": "attention and recurrence"}),
    *of_page("memory-and-compute", {"tokens": (256, "128", 128), "query_block": (32, "1", 1), "key_block": (64, "16", 16),
                                    "causal": (True, "false", False), "query": (251, "3", 3)},
             {"memory_and_compute.view": "same numbers, less memory"}),
]
BAD = {"out of range": "1000001", "negative": "-1", "wrong type": "abc", "half": "4.5", "empty": "", "too large to be a number": "1e400",
       "not a number": "nan", "10,000 characters": "9" * 10_000, "control characters": "\x00\x07\u202e",
       "digits of another script": "１", "repeated": None}
each_control = pytest.mark.parametrize("control", CONTROLS, ids=lambda control: f"{control.url}-{control.key}")


def opened(control, **more):
    return visit(control.url, **control.needs, **more)


VIEWS = list({(control.url, *control.needs.items()): (control.url, control.needs) for control in CONTROLS}.values())
each_view = pytest.mark.parametrize("url, needs", VIEWS, ids=[f"{url}-{'-'.join(needs)}" for url, needs in VIEWS])


def of(url, needs):
    """The controls that this view of a page adds."""
    return [control for control in CONTROLS if (control.url, control.needs) == (url, needs)]


@each_view
def test_the_list_of_controls_is_complete(url, needs):
    listed = {control.key for control in CONTROLS if control.url == url} | {"tables", "seed", "text"}
    drawn = set(asked(visit(url, **needs)))
    assert {control.key for control in of(url, needs)} <= drawn <= listed


@each_control
def test_a_good_value_in_the_address_is_taken_over_and_survives_a_page_change(control):
    at = opened(control, **{control.key: control.written})
    assert not at.exception and notes(at) == []
    assert at.session_state[control.key] == widget(at, control.key).value == control.held
    go(at, "welcome" if control.url != "welcome" else "many-heads")
    go(at, control.url)
    assert at.session_state[control.key] == widget(at, control.key).value == control.held


def bad(control, what):
    """This bad value for this control; None where it is a good one, as a text may be anything."""
    if control.key == "text" and what != "repeated" or control.is_text and what not in ("10,000 characters", "repeated"):
        return None
    if control.key == "embeddings.id" and what == "negative":  # an id that is refused on the page, in words
        return None
    return [control.written, control.written] if BAD[what] is None else BAD[what]


# every kind of bad value on the page as it opens; one in its other views, whose controls are of the same kinds
BAD_THERE = [(url, needs, what) for url, needs in VIEWS for what in BAD if not needs or what == "wrong type"]


@pytest.mark.parametrize("url, needs, what", BAD_THERE, ids=[f"{url}-{'-'.join(needs)}-{what}" for url, needs, what in BAD_THERE])
def test_a_bad_value_in_the_address_gives_the_default_and_one_note(url, needs, what):
    everywhere = {control.key: (bad(control, what), control) for control in of(url, needs) if bad(control, what) is not None}
    keys = sorted(everywhere)
    for some in (keys[i:i + 6] for i in range(0, len(keys), 6)):  # no more than the page has lines for
        at = visit(url, **needs, **{key: everywhere[key][0] for key in some})
        assert not at.exception
        assert sorted(note.split(" = ")[0] for note in notes(at)) == some and all(len(note) < 500 for note in notes(at))
        for key in some:
            assert at.session_state[key] == widget(at, key).value == everywhere[key][1].default
            assert key not in at.query_params


@functools.cache
def plain(url, needs):
    """What the controls hold where the address asks for nothing amiss."""
    at = visit(url, seed="7", **dict(needs))
    return {key: at.session_state[key] for key in asked(at)}


def one_of_each(controls):
    """Of each page the first control of every kind: they share the code that reads the address."""
    seen = {}
    for control in controls:
        seen.setdefault((control.url, type(control.default), type(control.held)), control)
    return list(seen.values())


@pytest.mark.parametrize("control", one_of_each(CONTROLS), ids=lambda control: f"{control.url}-{control.key}")
def test_a_control_works_after_a_bad_address_and_the_others_never_notice(control):
    at = opened(control, **{"seed": "7", control.key: [control.written, control.written]})
    (note,) = notes(at)
    assert note.startswith(f"{control.key} = ")
    usual = plain(control.url, tuple(control.needs.items()))
    assert {key: at.session_state[key] for key in asked(at)} == usual | {control.key: control.default}
    set_control(at, control)
    assert at.session_state[control.key] == control.held and len(notes(at)) == 1
    at.button(key="dismiss").click().run()
    assert notes(at) == [] and at.session_state[control.key] == control.held and not at.exception


TEXTS = [control for control in CONTROLS if control.is_text and not control.key.endswith(ANY_TEXT)]
TYPED = {control.key for control in CONTROLS if control.is_text}


@pytest.mark.parametrize("control, value", [
    *((control, value) for control in TEXTS if control.key in ("scaling.scores", "attention.w_q") for value in (
        "99", "abc", "", "1e400", "nan", "inf", "\x00\x07\u202e", "1e400 1 1", "9" * 300, "$x$ <b>")),
    *((control, "abc") for control in TEXTS)], ids=ascii)
def test_a_text_that_is_no_list_of_numbers_is_kept_and_one_sentence_says_what_it_takes(control, value):
    at = opened(control, **{control.key: value})
    assert not at.exception and notes(at) == []
    (remark,) = shown(at, "remark")
    name = {"prompt": "“What the model reads”", "numbers": "“2 to 12 numbers with spaces between them”",
            "words": "“Or your own text, in this model's words”"}.get(control.key.split(".")[-1], control.key.split(".")[-1])
    assert (f"{name} can't be read: " if "." in control.key and control.url != "scaling" else "takes 2 to ") in remark
    assert value == "" or value not in remark
    assert at.session_state[control.key] == value


@pytest.mark.parametrize("key", ["nope", "attention.nope", "scaling.d", "x" * 10_000, "\x00", "<b>", "attention.row.", "page"],
                         ids=lambda key: ascii(key[:20]))
def test_an_unknown_parameter_is_named_and_taken_out_of_the_address(key):
    at = visit("attention", **{key: "5", "seed": "7"})
    (note,) = notes(at)
    assert note.startswith(visible(key[:60])) and "this page, as it is set here, has no such setting" in note and key not in at.query_params
    assert at.session_state["seed"] == 7 and not at.exception


@pytest.mark.parametrize("key", ["utm_source", "utm_campaign", "fbclid", "gclid", "embed", "embed_options", "ref"])
@pytest.mark.parametrize("url", ["welcome", "attention"])
def test_what_other_programs_leave_in_an_address_is_passed_over(url, key):
    at = visit(url, **{key: "x"})
    assert notes(at) == [] and not at.exception


def test_a_hundred_unknown_parameters_fill_no_more_than_a_few_lines():
    at = visit("attention", **{f"nope{i}": "<b>" for i in range(100)})
    assert 1 <= len(notes(at)) <= 8 and not at.exception


def test_closing_the_note_keeps_every_other_setting():
    at = visit("attention", **{"attention.row": "99", "attention.stage": "mix", "attention.column": "1 · 1", "seed": "7", "tables": "true"})
    before = {key: at.session_state[key] for key in asked(at)}
    at.button(key="dismiss").click().run()
    assert notes(at) == [] and {key: at.session_state[key] for key in asked(at)} == before


def test_a_note_is_gone_on_the_next_page_and_does_not_come_back():
    at = visit("attention", nope="1")
    assert notes(at)
    assert notes(go(at, "scaling")) == [] == notes(go(at, "attention"))


def test_a_note_stays_while_the_page_is_used():
    at = visit("attention", nope="1")
    at.selectbox(key="attention.row").set_value(2).run()
    assert len(notes(at)) == 1


# ------------------------------------------------------------------------------------------------ walking about


def set_control(at, control):
    """The person sets the control to its other value."""
    widget(at, control.key).set_value(control.held).run()
    assert not at.exception


SWITCHES = (".example", ".edit", ".mask", ".task", "encoder_decoder.weights")  # they change which controls there are


def set_all(at, url, needs):
    """The person sets every control of a view that leaves the others there; returns what the page's controls then hold."""
    mine = [control for control in of(url, needs) if not control.key.endswith(SWITCHES) and control.key != "text"]
    for control in mine:
        widget(at, control.key).set_value(control.held)
    at.run()
    held = {key: at.session_state[key] for key in asked(at)}
    assert not at.exception and all(held[control.key] == control.held for control in mine)
    return held


@each_view
def test_settings_survive_a_visit_to_another_page(url, needs):
    at = visit(url, **needs)
    held = set_all(at, url, needs)
    for other in ["welcome", url]:
        go(at, other)
        assert not at.exception
    assert {key: at.session_state[key] for key in asked(at)} == held
    assert all(widget(at, key).value == value for key, value in held.items())


def test_settings_of_all_pages_survive_a_walk_through_all_others():
    at, held = visit("welcome"), {}
    for url in URLS:
        go(at, url)
        if not any(control.needs for control in of(url, {})) and url not in ("welcome", "attention"):
            held[url] = set_all(at, url, {})
    assert len(held) > 15
    for url, values in held.items():
        go(at, url)
        assert {key: at.session_state[key] for key in asked(at)} == values, url


def test_the_sentence_the_seed_and_the_tables_follow_the_person():
    at = visit("attention", text="to be or not", seed="7", tables="true")
    for url in URLS:
        go(at, url)
        assert [widget(at, key).value for key in ("text", "seed", "tables")] == ["to be or not", 7, True]


# --------------------------------------------------------------------------------------------- every button, every stop


def stops(control):
    """The values to try: all of a few, the first and the last of many."""
    if control.type == "select_slider":
        return ()
    if control.type in ("radio", "button_group"):
        return control.options
    if control.type == "selectbox":
        return range(len(control.options)) if control.key.endswith(".example") else (len(control.options) - 1, 0)
    return (control.min, control.max) if control.type in ("slider", "number_input") else (not control.value, control.value)


@pytest.mark.parametrize("url, needs", [*((url, {}) for url in URLS), *((url, OWN) for url in TOKEN_PAGES), ("causal-mask", PADDED)],
                         ids=str)
def test_every_option_of_every_control_can_be_chosen(url, needs):
    at = visit(url, **needs)
    for key in asked(at):
        for value in stops(widget(at, key)) if "." in key and key in asked(at) and key not in TYPED else ():
            widget(at, key).set_value(value).run()
            assert not at.exception, (key, value)
            assert at.session_state[key] == value


@pytest.mark.parametrize("control", [control for control in CONTROLS if control.key in (
    "scaling.d", "scaling.temperature", "causal_mask.boost", "queries_keys_values.d_model", "queries_keys_values.d_head",
    "many_heads.d_model")], ids=lambda control: control.key)
def test_every_stop_of_a_slider_can_be_chosen(control):
    at = opened(control)
    for value in widget(at, control.key).options:
        widget(at, control.key).set_value(type(control.default)(value)).run()
        assert not at.exception and at.session_state[control.key] == type(control.default)(value)


@pytest.mark.parametrize("url", URLS)
def test_every_button_can_be_pressed(url):
    at = visit(url, nope="1")
    for key in [button.key for button in at.button] + [button.key for button in at.get("download_button")]:
        button = next(button for button in [*at.button, *at.get("download_button")] if button.key == key)
        button.click().run()
        assert not at.exception


# ----------------------------------------------------------------------------------------- when the choice shrinks


@pytest.mark.parametrize("url", TOKEN_PAGES)
def test_a_picked_cell_outside_a_shorter_text_falls_back(url):
    at = visit(url, text=" ".join("abcdefghij"))
    page = url.replace("-", "_")
    at.selectbox(key=f"{page}.row").set_value(9).run()
    at.selectbox(key=f"{page}.column").set_value(len(at.selectbox(key=f"{page}.column").options) - 1).run()
    for text in ("a b", "a", ""):
        at.text_input(key="text").set_value(text).run()
        assert not at.exception
        assert 0 <= at.session_state[f"{page}.row"] < len(at.selectbox(key=f"{page}.row").options)
        assert 0 <= at.session_state[f"{page}.column"] < len(at.selectbox(key=f"{page}.column").options)


def test_a_picked_row_keeps_its_number_when_only_the_words_change():
    at = visit("attention", text="a b c d")
    at.selectbox(key="attention.row").set_value(2).run()
    at.text_input(key="text").set_value("e f g h").run()
    assert at.session_state["attention.row"] == 2


def test_a_head_that_is_no_longer_there_falls_back_to_the_first():
    at = visit("many-heads", **{"many_heads.n_heads": "4", "many_heads.head": "head 3"})
    assert at.session_state["many_heads.head"] == "head 3"
    at.slider(key="many_heads.n_heads").set_value(2).run()
    assert at.session_state["many_heads.head"] == "head 0" and not at.exception
    at.slider(key="many_heads.n_heads").set_value(1).run()
    assert not at.exception and len([each for each in pictures(at) if each.title.startswith("Pattern")]) == 1


def test_filler_tokens_never_outnumber_the_text():
    at = visit("causal-mask", text="a b c d e f", **PADDED)
    at.slider(key="causal_mask.n_padding").set_value(5).run()
    for text in ("a b c", "a b", "a"):
        at.text_input(key="text").set_value(text).run()
        assert not at.exception
    assert any("only size possible" in line.value for line in at.markdown)


def test_features_of_a_narrower_head_take_back_the_picked_column():
    at = visit("queries-keys-values", text="a b", **{"queries_keys_values.d_head": "32", "queries_keys_values.column": "31 · 31"})
    assert at.session_state["queries_keys_values.column"] == 31
    at.select_slider(key="queries_keys_values.d_head").set_value(2).run()
    assert not at.exception and at.session_state["queries_keys_values.column"] in (0, 1)


# ------------------------------------------------------------------------------------------------- a click on a picture


@pytest.mark.parametrize("stage", ["mix", None])
def test_a_click_on_a_cell_sets_the_lists(stage, monkeypatch):
    state = {"chart.attention.mix": {"selection": {"points": [{"x": 2.0, "y": 1.0, "curve_number": 2}]}}}
    monkeypatch.setattr(controls.st, "session_state", state)
    controls.on_click("attention", "attention.mix", stage)()
    assert (state["attention.row"], state["attention.column"], state.get("attention.stage")) == (1, 2, stage)


def test_a_click_beside_all_cells_changes_nothing(monkeypatch):
    state = {"chart.attention.mix": {"selection": {"points": []}}}
    monkeypatch.setattr(controls.st, "session_state", state)
    controls.on_click("attention", "attention.mix", "mix")()
    assert list(state) == ["chart.attention.mix"]
