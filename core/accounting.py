"""What a model has and costs: every array with its size, the cache of keys and values, and the work of one pass."""

from typing import NamedTuple

from core.config import ModelConfig
from core.kv_cache import cache_bytes, multiply_adds
from core.parameter_rows import ParameterRow, block_rows, embedding_rows, norm_rows, row
from core.published_config import PublishedConfig


class ParameterCount(NamedTuple):
    """All arrays of a model, and how many numbers they hold."""

    total: int
    active: int    # that one token uses; all of the tables count
    rows: tuple[ParameterRow, ...]


class Flops(NamedTuple):
    """Floating-point operations of the matrix products, by part; a multiply-add is 2."""

    qkv: int
    scores: int
    mixed: int
    attn_out: int
    feed_forward: int
    logits: int

    @property
    def total(self):
        """All of them."""
        return sum(self)


def count_parameters(config):
    """Every array of a model with its shape and number, from the sizes alone; nothing is built.

    total = sum of times · product(shape);   active: of the experts only those that one token uses

    config   ModelConfig or PublishedConfig
    returns  ParameterCount
    raises   ValueError where it is neither

    >>> from core.config import ModelConfig
    >>> count_parameters(ModelConfig(vocab_size=10, n_ctx=5, d_model=2, n_layers=1, n_heads=1, norm="none", bias=False)).total
    78
    """
    c = published(config)
    rows = [*embedding_rows(c)]
    if c.kind == "encoder-decoder":
        rows += block_rows(c, "encoder[i]", c.n_layers, ("attention",))
        rows += norm_rows(c, "final_norm_encoder") if c.norm_position == "pre" else []
        rows += block_rows(c, "decoder[i]", c.n_decoder_layers, ("self_attention", "cross_attention"))
        rows += norm_rows(c, "final_norm_decoder") if c.norm_position == "pre" else []
    else:
        rows += block_rows(c, "blocks[i]", c.n_layers, ("attention",))
        rows += norm_rows(c, "final_norm") if c.norm_position == "pre" else []
    if c.pooler:
        rows += [row("pooler.w", (c.d_model, c.d_model), "d_model × d_model, read at the first token", "pooler"),
                 row("pooler.b", (c.d_model,), "one a feature", "pooler")]
    if c.head and not c.tied:
        rows.append(row("w_unembed", (c.vocab_size, c.d_model), "one row a token of the vocabulary, apart from w_embed", "logits"))
    if c.head and "unembed" in c.biases:
        rows.append(row("b_unembed", (c.vocab_size,), "one a token of the vocabulary", "logits"))
    return ParameterCount(sum(r.count for r in rows), sum(r.active for r in rows), tuple(rows))


def published(config):
    """The same arrays as a PublishedConfig: a runnable model's biases are all or none.

    returns  PublishedConfig
    raises   ValueError where it is neither a ModelConfig nor a PublishedConfig
    """
    if isinstance(config, PublishedConfig):
        return config
    if not isinstance(config, ModelConfig):
        raise ValueError(f"What is counted is a ModelConfig or a PublishedConfig, not {type(config).__name__}.")
    same = {name: getattr(config, name) for name in (
        "vocab_size", "d_model", "n_layers", "n_heads", "d_ff", "n_ctx", "n_kv_heads", "d_head", "activation", "norm", "norm_position",
        "positions", "tied")}
    return PublishedConfig("runnable", "decoder", **same, biases=("qkv", "o", "ff", "norm") if config.bias else ())


def kv_cache_bytes_per_token(config, bytes_per_value=2):
    """What a cache keeps of one token, over all layers.

    bytes = 2 · n_layers · n_kv_heads · d_head · bytes_per_value;   latent attention: n_layers · (kv_rank + d_rope) · bytes_per_value

    An encoder writes nothing and keeps nothing: 0. Of an encoder–decoder: the decoder's own keys and values for one written token; those
    of cross-attention are as large again for each token of the source.

    config           ModelConfig or PublishedConfig
    bytes_per_value  2 for 16-bit numbers
    returns          int
    raises           ValueError where config is neither, or bytes_per_value isn't above 0
    source           Pope et al. 2022, "Efficiently Scaling Transformer Inference"; DeepSeek-AI 2024, "DeepSeek-V2", table 1 (latent)

    >>> from core.config import ModelConfig
    >>> kv_cache_bytes_per_token(ModelConfig(3, 4, d_model=8, n_layers=2, n_heads=4, n_kv_heads=1))  # 2 · 2 · 1 · 2 · 2
    16
    """
    if not bytes_per_value > 0:
        raise ValueError(f"bytes_per_value is {bytes_per_value!r}; it must be above 0, as 2 for 16-bit numbers.")
    if isinstance(config, ModelConfig):
        return cache_bytes(config, 1, bytes_per_value)
    c = published(config)
    n_layers = {"decoder": c.n_layers, "encoder": 0, "encoder-decoder": c.n_decoder_layers}[c.kind]
    a_layer = c.latent.kv_rank + c.latent.d_rope if c.latent else 2 * c.n_kv_heads * c.d_head
    return n_layers * a_layer * bytes_per_value


def forward_flops(config, n_new=1, n_past=0):
    """The work of one pass over n_new tokens after n_past that are kept: 2 for every multiply-add of a matrix product.

    Each number of a weight matrix takes one multiply-add a token, and each pair of tokens 2 · n_heads · d_head: scores and mixed.
    Left out: norms, softmax, bends, positions, looking up rows, biases, the pooler. Hidden scores are counted too, as they are computed.

    config   ModelConfig, or PublishedConfig of one stack
    returns  Flops
    raises   ValueError for an encoder–decoder, whose two stacks read texts of different lengths
    source   Kaplan et al. 2020, "Scaling Laws for Neural Language Models", section 2.1

    >>> from core.config import ModelConfig
    >>> forward_flops(ModelConfig(3, 4, 2, 1, 1, d_ff=2), 1, 1)
    Flops(qkv=24, scores=8, mixed=8, attn_out=8, feed_forward=16, logits=12)
    """
    if isinstance(config, ModelConfig):
        return Flops(*(2 * count for count in multiply_adds(config, n_new, n_past)))
    c = published(config)
    if c.kind == "encoder-decoder":
        raise ValueError("An encoder-decoder reads two texts of different lengths; count one stack at a time.")
    if c.kind == "encoder" and n_past:
        raise ValueError(f"An encoder keeps nothing of earlier tokens; n_past must be 0, not {n_past}.")
    matrices = [r for r in count_parameters(c).rows if len(r.shape) == 2]
    part = {name: n_new * sum(r.active for r in matrices if r.part == name) for name in ("qkv", "attn_out", "feed_forward")}
    pairs = c.n_layers * c.n_heads * n_new * (n_past + n_new)
    d_key, d_value = (c.latent.d_nope + c.latent.d_rope, c.latent.d_value) if c.latent else (c.d_head, c.d_head)
    logits = n_new * c.vocab_size * c.d_model if c.head else 0
    return Flops(2 * part["qkv"], 2 * pairs * d_key, 2 * pairs * d_value, 2 * part["attn_out"], 2 * part["feed_forward"], 2 * logits)


def backward_flops(config, n_tokens=1):
    """The work of going back through one pass over n_tokens: twice the forward.

    For each product y = x w there are two of the same size: d_x = d_y wᵀ and d_w = xᵀ d_y. Left out are what `forward_flops` leaves out,
    the optimizer's step, and any part of the forward pass that is computed again to save memory.

    returns  Flops
    raises   ValueError as `forward_flops` does
    source   Kaplan et al. 2020, section 2.1

    >>> from core.config import ModelConfig
    >>> backward_flops(ModelConfig(3, 4, 2, 1, 1, d_ff=2), 1).logits
    24
    """
    return Flops(*(2 * count for count in forward_flops(config, n_tokens)))
