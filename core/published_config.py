"""The sizes of a published model, for accounting alone: enough to name every array that it has, whether core can run it or not."""

from dataclasses import dataclass
from numbers import Integral
from typing import NamedTuple

from core.attention import divisors_sentence

KINDS = ("decoder", "encoder", "encoder-decoder")
PUBLISHED_CHOICES = {
    "kind": KINDS,
    "activation": ("gelu", "gelu_tanh", "relu", "silu", "swiglu", "geglu"),
    "norm": ("layer", "rms", "none"),
    "norm_position": ("pre", "post"),
    "positions": ("learned", "sinusoidal", "rotary", "relative", "none"),
}
BIASES = ("qkv", "o", "ff", "gate", "norm", "unembed")
GATED = ("swiglu", "geglu")


class Experts(NamedTuple):
    """Feed-forward layers of which each token uses a few, chosen by a router."""

    n_experts: int
    n_used: int               # by each token, beside the shared ones
    d_expert: int             # width inside one expert
    n_shared: int = 0         # experts that every token uses
    n_dense_layers: int = 0   # the first layers, which have one plain feed-forward layer instead
    router_bias: bool = False


class Latent(NamedTuple):
    """Keys and values made from one narrow vector a token, which is all that a cache keeps (multi-head latent attention)."""

    kv_rank: int         # width of the narrow vector for keys and values
    d_nope: int          # of a head's query and key, the part without positions
    d_rope: int          # the part that is turned by rotary positions; its key is shared by all heads
    d_value: int         # width of a head's value
    q_rank: int | None = None   # width of the narrow vector for queries; None makes them directly


@dataclass(frozen=True)
class PublishedConfig:
    """Sizes and choices of a model as it was published. Nothing is repaired silently: what can't be raises.

    kind              "decoder", "encoder" or "encoder-decoder"
    n_layers          of an encoder–decoder: the encoder's; n_decoder_layers are the decoder's
    d_ff              width inside the feed-forward layer; 0 leaves it out
    n_kv_heads        n_heads unless given (1: multi-query; between 1 and n_heads: grouped-query); d_head: d_model / n_heads unless given
    activation        swiglu and geglu have a third matrix, the gate
    norms_per_block   1 (one norm feeds both steps), 2, or 4 (also after each step)
    biases            which of "qkv", "o", "ff", "gate", "norm", "unembed" are there
    tied              the table of the input is that of the output too; head False: the count has no output at all
    parallel          attention and feed-forward read the same stream (no array more or less)
    n_buckets         rows of a relative-position table, one table a stack
    note              what a reader should know about the published figure
    raises            ValueError that names the size and says what would work

    >>> PublishedConfig("mine", "decoder", vocab_size=9, d_model=16, n_layers=1, n_heads=2, d_ff=64, n_ctx=5).d_head
    8
    """

    name: str
    kind: str
    vocab_size: int
    d_model: int
    n_layers: int
    n_heads: int
    d_ff: int
    n_ctx: int | None = None
    n_kv_heads: int | None = None
    d_head: int | None = None
    n_decoder_layers: int = 0
    activation: str = "gelu"
    norm: str = "layer"
    norm_position: str = "pre"
    norms_per_block: int = 2
    positions: str = "learned"
    tied: bool = True
    head: bool = True
    biases: tuple[str, ...] = ()
    parallel: bool = False
    qk_norm: bool = False
    embedding_norm: bool = False
    n_token_types: int = 0
    pooler: bool = False
    n_buckets: int = 0
    experts: Experts | None = None
    latent: Latent | None = None
    note: str = ""

    def __post_init__(self):
        for field in ("vocab_size", "d_model", "n_layers", "n_heads"):
            whole(field, getattr(self, field), 1)
        for field in ("n_ctx", "n_kv_heads", "d_head"):
            if getattr(self, field) is not None:
                whole(field, getattr(self, field), 1)
        for field in ("d_ff", "n_decoder_layers", "n_token_types", "n_buckets"):
            whole(field, getattr(self, field), 0)
        for field, allowed in PUBLISHED_CHOICES.items():
            if getattr(self, field) not in allowed:
                raise ValueError(f"{field} is {getattr(self, field)!r}; it can be {', '.join(allowed)}.")
        if self.norms_per_block not in (1, 2, 4):
            raise ValueError(f"norms_per_block is {self.norms_per_block!r}; it can be 1, 2 or 4.")
        if unknown := [place for place in self.biases if place not in BIASES]:
            raise ValueError(f"biases names {unknown[0]!r}; it can name {', '.join(BIASES)}.")
        if (self.kind == "encoder-decoder") != (self.n_decoder_layers > 0):
            raise ValueError(f"The kind is {self.kind} and n_decoder_layers {self.n_decoder_layers}; give n_decoder_layers of 1 or more "
                             "for an encoder-decoder and leave it out elsewhere.")
        if self.positions == "learned" and self.n_ctx is None:
            raise ValueError("Learned positions are a table with a row a position; give n_ctx, the number of its rows.")
        if (self.positions == "relative") != (self.n_buckets > 0):
            raise ValueError(f"positions is {self.positions} and n_buckets {self.n_buckets}; relative positions, and they alone, "
                             "need a table of 1 bucket or more.")
        self._heads()
        self._parts()

    def _heads(self):
        if self.d_head is None and self.latent is None:
            if self.d_model % self.n_heads:
                raise ValueError(f"d_model {self.d_model} can't be cut into {self.n_heads} equal heads. "
                                 f"{divisors_sentence(self.d_model)} Or give d_head.")
            object.__setattr__(self, "d_head", self.d_model // self.n_heads)
        if self.n_kv_heads is None:
            object.__setattr__(self, "n_kv_heads", self.n_heads)
        if self.n_heads % self.n_kv_heads:
            raise ValueError(f"{self.n_heads} heads can't share {self.n_kv_heads} key/value heads evenly. "
                             + divisors_sentence(self.n_heads).replace("Head", "Key/value head"))

        if self.positions == "rotary" and self.d_head is not None and self.d_head % 2:
            raise ValueError(f"Rotary positions turn pairs of features, so d_head must be even, not {self.d_head}.")

    def _parts(self):
        if self.latent:
            for field, size in self.latent._asdict().items():
                if not (field == "q_rank" and size is None):
                    whole(f"latent.{field}", size, 1)
        if self.experts:
            for field in ("n_experts", "n_used", "d_expert"):
                whole(f"experts.{field}", getattr(self.experts, field), 1)
            for field in ("n_shared", "n_dense_layers"):
                whole(f"experts.{field}", getattr(self.experts, field), 0)
            if self.experts.n_used > self.experts.n_experts:
                raise ValueError(f"A token can't use {self.experts.n_used} of {self.experts.n_experts} experts; use at most all of them.")
            if self.experts.n_dense_layers > self.n_layers:
                raise ValueError(f"{self.experts.n_dense_layers} of the {self.n_layers} layers can't be dense; at most all of them.")


def whole(field, size, least):
    """Refuse a size that is not a whole number of at least `least`, or that no model has: a billion rows, a million of anything else."""
    most = 10**9 if field in ("vocab_size", "n_ctx") else 10**6
    if not isinstance(size, Integral) or isinstance(size, bool) or size < least:
        raise ValueError(f"{field} is {size!r}; it must be a whole number of {least} or more.")
    if size > most:
        raise ValueError(f"{field} is {size}; no model has so many. Give {most} or less.")
