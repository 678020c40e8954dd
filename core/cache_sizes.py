"""The cache of keys and values of a whole text: as the model has it, with more or fewer key/value heads, and what fits into a memory."""

from dataclasses import replace
from typing import NamedTuple

from core.accounting import count_parameters, kv_cache_bytes_per_token
from core.memory import stored_bytes
from core.more_models import CONTEXTS, KNOWN


class Variant(NamedTuple):
    """One way to keep the past of a model."""

    name: str
    n_kv_heads: int | None  # None: one narrow vector a token instead of keys and values
    bytes_per_token: int


class Overview(NamedTuple):
    """One line of the table of all models, at 16 bit."""

    name: str
    bytes_per_token: int
    context: int | None      # the longest text that its makers name
    cache_bytes: int | None  # of one such text
    weight_bytes: int


def whole_cache(bytes_per_token, n_tokens, batch=1):
    """The cache of `batch` texts of n_tokens each.

    returns  int, bytes

    >>> whole_cache(10, 3, 2)
    60
    """
    return bytes_per_token * n_tokens * batch


def variants(config, bytes_per_value=2):
    """The cache of one token of the same model with its own key/value heads, with one for each query head, and with one for all.

    For latent attention, what is compared with is the keys and values of all heads, written out: n_layers · n_heads · (d_nope + d_rope
    + d_value) · bytes_per_value.

    config   PublishedConfig
    returns  list of Variant, the model's own first; empty for an encoder, which keeps nothing
    source   Shazeer 2019, "Fast Transformer Decoding" (multi-query); Ainslie et al. 2023, "GQA"; DeepSeek-AI 2024, "DeepSeek-V2",
             table 1 (latent)

    >>> from core.published_config import PublishedConfig
    >>> tiny = PublishedConfig("mine", "decoder", 9, 16, 1, 4, 64, n_kv_heads=2, positions="none")
    >>> [(variant.n_kv_heads, variant.bytes_per_token) for variant in variants(tiny)]
    [(2, 32), (4, 64), (1, 16)]
    """
    own = kv_cache_bytes_per_token(config, bytes_per_value)
    if not own:
        return []
    if config.latent:
        widths = config.latent.d_nope + config.latent.d_rope + config.latent.d_value
        return [Variant("as published (MLA)", None, own),
                Variant("every head written out (MHA)", config.n_heads, config.n_layers * config.n_heads * widths * bytes_per_value)]
    kind = {config.n_heads: "MHA", 1: "MQA"}.get(config.n_kv_heads, "GQA")
    found = [Variant(f"as it is ({kind})", config.n_kv_heads, own)]
    for name, n_kv_heads in (("one for each query head (MHA)", config.n_heads), ("one for all (MQA)", 1)):
        if n_kv_heads != config.n_kv_heads:
            found.append(Variant(name, n_kv_heads, kv_cache_bytes_per_token(replace(config, n_kv_heads=n_kv_heads), bytes_per_value)))
    return found


def tokens_that_fit(memory_bytes, weight_bytes, bytes_per_token, batch=1):
    """How long each of `batch` texts may get before weights and cache together fill the memory; nothing else is counted.

    floor((memory_bytes - weight_bytes) / (bytes_per_token · batch))

    returns  int, 0 where the weights alone do not fit; None where a text takes no room

    >>> tokens_that_fit(100, 40, 7, 2)
    4
    """
    if not bytes_per_token:
        return None
    return max(int((memory_bytes - weight_bytes) // (bytes_per_token * batch)), 0)


def overview():
    """All known models at 16 bit: cache of a token, of a text as long as the model was made for, and weights.

    returns  list of Overview
    """
    found = []
    for name, config in KNOWN.items():
        per_token, context = kv_cache_bytes_per_token(config, 2), CONTEXTS.get(name)
        found.append(Overview(name, per_token, context, None if context is None else whole_cache(per_token, context),
                              stored_bytes(count_parameters(config).total, 2)))
    return found
