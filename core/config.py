"""The sizes of a model, checked before anything is built."""

from dataclasses import dataclass
from numbers import Integral

from core.attention import divisors_sentence

CHOICES = {
    "activation": ("gelu", "gelu_tanh", "relu", "silu", "swiglu"),
    "norm": ("layer", "rms", "none"),
    "norm_position": ("pre", "post"),
    "positions": ("learned", "sinusoidal", "rotary", "none"),
}


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and choices of a decoder-only Transformer. Nothing is repaired silently: what can't work raises.

    d_ff         width inside the feed-forward layer, 4·d_model unless given; 0 leaves the layer out (attention alone)
    n_kv_heads   key/value heads, n_heads unless given
    d_head       width of a head, d_model / n_heads unless given
    norm         "none", scaled, causal and residual False are for experiments: no norm, scores not divided by √d_head, every token sees
                 the whole text, each step replaces the stream instead of adding to it
    raises       ValueError that names the sizes and says what would work

    >>> ModelConfig(vocab_size=9, n_ctx=5, d_model=16, n_layers=1, n_heads=2).d_head
    8
    """

    vocab_size: int
    n_ctx: int
    d_model: int
    n_layers: int
    n_heads: int
    d_ff: int | None = None
    n_kv_heads: int | None = None
    d_head: int | None = None
    activation: str = "gelu"
    norm: str = "layer"
    norm_position: str = "pre"
    positions: str = "learned"
    tied: bool = True
    bias: bool = True
    scaled: bool = True
    causal: bool = True
    residual: bool = True

    def __post_init__(self):
        for name in ("vocab_size", "n_ctx", "d_model", "n_layers", "n_heads", "d_ff", "n_kv_heads", "d_head"):
            size = getattr(self, name)
            if size is None and name in ("d_ff", "n_kv_heads", "d_head"):
                continue
            if name == "d_ff" and size == 0 and not isinstance(size, bool):
                continue
            if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
                raise ValueError(f"{name} is {size!r}; it must be a whole number of 1 or more.")
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it can be {', '.join(allowed)}.")
        if self.d_head is None:
            if self.d_model % self.n_heads:
                raise ValueError(f"d_model {self.d_model} can't be cut into {self.n_heads} equal heads. "
                                 f"{divisors_sentence(self.d_model)} Or give d_head.")
            object.__setattr__(self, "d_head", self.d_model // self.n_heads)
        if self.d_ff is None:
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        if self.n_kv_heads is None:
            object.__setattr__(self, "n_kv_heads", self.n_heads)
        if self.n_heads % self.n_kv_heads:
            raise ValueError(f"{self.n_heads} heads can't share {self.n_kv_heads} key/value heads evenly. "
                             + divisors_sentence(self.n_heads).replace("Head", "Key/value head"))
        if self.positions == "rotary" and self.d_head % 2:
            raise ValueError(f"Rotary positions turn pairs of features, so d_head must be even, not {self.d_head}.")
