"""What lies in memory while a model reads or learns: weights, gradients, optimizer, kept arrays, cache. Bytes, and bytes as text."""

import math
from typing import NamedTuple

import numpy as np

from core.accounting import count_parameters, kv_cache_bytes_per_token
from core.transformer import forward, init_params

GB, GIB = 10**9, 2**30
DECIMAL, BINARY = ("", "kB", "MB", "GB"), ("", "KiB", "MiB", "GiB")
PRECISIONS = {"float32": 4, "16 bit": 2, "int8": 1, "int4": 0.5}  # bytes a number; float16 and bfloat16 are both 16 bit
TRAINING = {
    # bytes a parameter: weights as they are multiplied, gradients, and what the optimizer holds
    "float32": {"weights": 4, "gradients": 4, "m": 4, "v": 4, "master": 0, "kept": 4},
    "mixed 16/32": {"weights": 2, "gradients": 2, "m": 4, "v": 4, "master": 4, "kept": 2},
}


class Kept(NamedTuple):
    """One kind of array that the way back reads again."""

    name: str
    count: int     # numbers, over all layers and all texts
    formula: str   # with the sizes in it


class Memory(NamedTuple):
    """What lies in memory at once, in bytes."""

    weights: int
    gradients: int
    optimizer: int    # AdamW's m and v, and the master copy where there is one
    activations: int  # arrays kept for the way back
    cache: int        # keys and values

    @property
    def total(self):
        """All of it."""
        return sum(self)


def stored_bytes(n_numbers, bytes_per_value):
    """The bytes of so many numbers. What int8 and int4 formats keep beside the numbers (scales) is left out.

    returns  int, rounded up

    >>> stored_bytes(3, 0.5)
    2
    """
    return math.ceil(n_numbers * bytes_per_value)


def in_words(n_bytes):
    """Bytes in both units: 1 GB is 10⁹ bytes, 1 GiB is 2³⁰, 7 % more.

    >>> in_words(2**31), in_words(1500)
    ('2.147 GB = 2 GiB', '1.5 kB = 1.465 KiB')
    """
    power = _power(n_bytes, 1000)
    return f"{four(n_bytes / 1000**power)} {DECIMAL[power]} = {four(n_bytes / 1024**power)} {BINARY[power]}"


class Unit(NamedTuple):
    """A unit of bytes."""

    name: str
    bytes: int


def common_unit(sizes, binary=True):
    """One unit for all numbers of a table's column or a picture, chosen by the largest: below 1 GiB it is MiB, below 1 MiB it is KiB.

    sizes    numbers of bytes
    binary   False: GB, MB and kB, powers of 1,000
    returns  Unit

    >>> common_unit([2**40, 5]), common_unit([10**9 - 1], binary=False)
    (Unit(name='GiB', bytes=1073741824), Unit(name='MB', bytes=1000000))
    """
    base, names = (1024, BINARY) if binary else (1000, DECIMAL)
    power = _power(max(sizes, default=0), base)
    return Unit(names[power], base**power)


def _power(n_bytes, base):
    """Giga from one whole of it on, then mega, then kilo."""
    return 3 if n_bytes >= base**3 else 2 if n_bytes >= base**2 else 1


def in_powers(number):
    """A large number to read: four digits, and a power of ten from a million on.

    >>> in_powers(1234.5), in_powers(312e12), in_powers(0.0042)
    ('1,234', '3.12·10¹⁴', '0.0042')
    """
    if abs(number) < 10**6:
        return four(number)
    digits, power = f"{number:.3e}".split("e")
    return f"{float(digits):g}·10{str(int(power)).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def four(number):
    """Four digits; whole thousands with commas.

    >>> four(0.031251), four(12345.6)
    ('0.03125', '12,346')
    """
    return f"{number:,.0f}" if number >= 999.95 else f"{number:.4g}"


def kept_arrays(config, n_tokens, batch=1, pattern=True):
    """The arrays of a forward pass that `core.backward` reads again, with the count of their numbers.

    A block: its stream before and between, what each norm made of it (or, post-norm, what was written), q, k, v, pattern, mixed, and
    the hidden vectors before and after the bend (three for swiglu). After the last block: the stream, its norm, and the logits.
    Not counted: means and spreads of the norms, masks, and what lives for a moment only.

    config   ModelConfig
    pattern  False: it is computed again on the way back instead of being kept
    returns  list of Kept
    source   Rabe & Staats 2021, "Self-attention Does Not Need O(n²) Memory"; Dao et al. 2022, section 3.1 (computing the pattern again)

    >>> from core.config import ModelConfig
    >>> sum(part.count for part in kept_arrays(ModelConfig(3, 4, 2, 1, 1, d_ff=2), 1))
    28
    """
    c, rows = config, n_tokens * batch
    pre, normed, gated = c.norm_position == "pre", c.norm != "none", c.activation == "swiglu"
    steps = (("resid_pre", "attn_in"), ("resid_mid", "ff_in")) if pre else (("resid_pre", "attn_out"), ("resid_mid", "ff_out"))
    streams = [name for step in steps[:2 if c.d_ff else 1] for name in (step if normed or not pre else step[:1])]  # no norm: one array
    text = f"{batch} × {n_tokens}"
    each = dict.fromkeys(streams, (c.d_model, f"{text} × {c.d_model}"))
    each["q"] = (c.n_heads * c.d_head, f"{text} × {c.n_heads} × {c.d_head}")
    each |= dict.fromkeys(("k", "v"), (c.n_kv_heads * c.d_head, f"{text} × {c.n_kv_heads} × {c.d_head}"))
    if pattern:
        each["pattern"] = (c.n_heads * n_tokens, f"{batch} × {c.n_heads} × {n_tokens} × {n_tokens}")
    each["mixed"] = each["q"]
    if c.d_ff:
        hidden = ("hidden_linear", "hidden_pre", "hidden_post") if gated else ("hidden_pre", "hidden_post")
        each |= dict.fromkeys(hidden, (c.d_ff, f"{text} × {c.d_ff}"))
    found = [Kept(name, c.n_layers * rows * width, f"{c.n_layers} × {formula}") for name, (width, formula) in each.items()]
    ends = {"last_stream": c.d_model} if pre and normed else {}
    ends |= {"final": c.d_model, "logits": c.vocab_size}
    return found + [Kept(name, rows * width, f"{text} × {width}") for name, width in ends.items()]


def reading(config, n_tokens, batch, weight_bytes, cache_bytes):
    """Memory of a model that reads or writes: weights and cache. What one layer needs for a moment is left out.

    config        ModelConfig or PublishedConfig
    weight_bytes  a number of PRECISIONS; cache_bytes: bytes a number in the cache
    returns       Memory

    >>> from core.config import ModelConfig
    >>> reading(ModelConfig(3, 4, 2, 1, 1, d_ff=2), 4, 1, 2, 2)
    Memory(weights=124, gradients=0, optimizer=0, activations=0, cache=32)
    """
    return Memory(stored_bytes(count_parameters(config).total, weight_bytes), 0, 0, 0,
                  kv_cache_bytes_per_token(config, cache_bytes) * n_tokens * batch)


def training(config, how, kept=()):
    """Memory of a model that learns by AdamW: weights, gradients, two moments, and what the way back reads again.

    float32: 4 + 4 + 4 + 4 bytes a parameter;   mixed 16/32: 2 + 2 + 4 + 4 + 4 (a float32 master copy that the steps are added to)

    kept     list of Kept
    returns  Memory
    raises   ValueError for another way to train
    source   Micikevicius et al. 2018, "Mixed Precision Training", section 3.1 (master copy); Rajbhandari et al. 2020, "ZeRO",
             section 3.1 (16 bytes a parameter); Loshchilov & Hutter 2019 (AdamW)

    >>> from core.config import ModelConfig
    >>> training(ModelConfig(3, 4, 2, 1, 1, d_ff=2), "float32")
    Memory(weights=248, gradients=248, optimizer=496, activations=0, cache=0)
    """
    if how not in TRAINING:
        raise ValueError(f"how is {how!r}; it can be {', '.join(TRAINING)}.")
    n, size = count_parameters(config).total, TRAINING[how]
    return Memory(n * size["weights"], n * size["gradients"], n * (size["m"] + size["v"] + size["master"]),
                  sum(part.count for part in kept) * size["kept"], 0)


def gap_to_arrays(config, n_tokens):
    """How far the counts are from the arrays of a pass that is run here, in float32: kept arrays and cache.

    config   ModelConfig of a small model
    returns  int, bytes; 0 where they agree

    >>> from core.config import ModelConfig
    >>> gap_to_arrays(ModelConfig(3, 4, 2, 1, 1, d_ff=2), 3)
    0
    """
    params, cache = init_params(config, np.random.default_rng(0), dtype=np.float32), []
    trace = forward(params, np.arange(n_tokens) % config.vocab_size, config, cache)
    found = {"final": [trace.final], "logits": [trace.logits], "last_stream": [trace.blocks[-1].resid_post]}
    for block in trace.blocks:
        parts = [block, block.attention, *([block.feed_forward] if block.feed_forward else [])]
        for name, array in (pair for part in parts for pair in part._asdict().items()):
            found.setdefault(name, []).append(array)
    arrays = [array for kept in kept_arrays(config, n_tokens) for array in found[kept.name]]
    real = sum(array.size * array.itemsize for array in arrays)
    counted = training(config, "float32", kept_arrays(config, n_tokens)).activations
    cached = sum(part.nbytes for kept in cache for part in kept)
    return abs(counted - real) + abs(kv_cache_bytes_per_token(config, 4) * n_tokens - cached)
