"""How fast a machine could at most be: it multiplies no faster than its peak, and it can't multiply what it has not read."""

from typing import NamedTuple

from core.accounting import count_parameters, forward_flops, kv_cache_bytes_per_token


class Machine(NamedTuple):
    """What a roofline needs of a machine."""

    name: str
    peak: dict       # {precision: floating-point operations a second, dense}
    bandwidth: float # bytes a second between memory and chip
    source: str


class Pass(NamedTuple):
    """The work of one forward pass and the bytes it must read."""

    name: str
    flops: int
    weight_bytes: int
    cache_bytes: int
    n_tokens: int    # that it reads or writes, over the batch

    @property
    def bytes(self):
        """Weights and cache together."""
        return self.weight_bytes + self.cache_bytes

    @property
    def intensity(self):
        """Floating-point operations for each byte read."""
        return self.flops / self.bytes


class Bound(NamedTuple):
    """What the roofline allows a pass."""

    rate: float         # floating-point operations a second, at most
    seconds: float      # at least
    by: str             # "memory" or "arithmetic": which of the two limits it
    tokens: float       # a second, at most


# Dense peaks: the larger numbers of the data sheets for matrices with half of their entries 0 ("sparsity") are not used.
MACHINES = {machine.name: machine for machine in (
    Machine("NVIDIA A100 80GB SXM", {"16 bit": 312e12, "float32": 19.5e12}, 2039e9,
            "NVIDIA A100 data sheet (80GB SXM: bfloat16 312 TFLOPS, float32 19.5 TFLOPS, 2,039 GB/s)"),
    Machine("NVIDIA H100 SXM", {"16 bit": 989.4e12, "float32": 67e12}, 3350e9,
            "NVIDIA H100 data sheet (SXM: bfloat16 1,979 TFLOPS with sparsity, 989.4 without; float32 67 TFLOPS, 3.35 TB/s)"),
    Machine("NVIDIA GeForce RTX 4090", {"16 bit": 165.2e12, "float32": 82.6e12}, 1008e9,
            "NVIDIA Ada architecture white paper (RTX 4090: bfloat16 with float32 sums 165.2 TFLOPS, float32 82.6 TFLOPS, 1,008 GB/s)"),
)}


def multiplied_weights(config):
    """How many weights one token is multiplied with: those of all matrices, and the output table; not the rows that are looked up.

    N = (forward_flops - scores - mixed) / 2;   of experts those that the token uses

    returns  int
    raises   ValueError for an encoder-decoder
    source   Kaplan et al. 2020, section 2.1 (there without the output table)

    >>> from core.config import ModelConfig
    >>> multiplied_weights(ModelConfig(3, 4, 2, 1, 1, d_ff=2))  # 2 · 6 + 2 · 2 + 2 · 2 · 2 + 3 · 2
    30
    """
    work = forward_flops(config, 1)
    return (work.total - work.scores - work.mixed) // 2


def one_pass(name, config, n_new, n_past, batch, weight_bytes, cache_bytes):
    """Count a forward pass of `batch` texts, n_new tokens each after n_past in the cache.

    bytes = multiplied weights, once for the whole batch, + each text's cache of n_past + n_new tokens

    That is the least a chip must read: what lies between the layers is taken to stay on it. Of experts only as many weights as one token
    uses are counted, though a batch usually wakes more.

    weight_bytes, cache_bytes  bytes a number
    returns  Pass
    raises   ValueError for an encoder-decoder

    >>> from core.config import ModelConfig
    >>> found = one_pass("decode", ModelConfig(3, 4, 2, 1, 1, d_ff=2), 1, 1, 2, 2, 2)
    >>> found.flops, found.bytes, found.n_tokens  # 2 · (60 + 16);  2 · 30 + 2 · 2 · 8
    (152, 92, 2)
    """
    return Pass(name, batch * forward_flops(config, n_new, n_past).total, int(multiplied_weights(config) * weight_bytes),
                batch * kv_cache_bytes_per_token(config, cache_bytes) * (n_past + n_new), batch * n_new)


def attainable(intensity, peak, bandwidth):
    """The roof over a pass: min(peak, intensity · bandwidth).

    returns  floating-point operations a second; an upper bound, not a forecast
    source   Williams, Waterman & Patterson 2009, "Roofline"

    >>> attainable(2.0, 10.0, 3.0), attainable(4.0, 10.0, 3.0)
    (6.0, 10.0)
    """
    return min(peak, intensity * bandwidth)


def ridge(peak, bandwidth):
    """The intensity from which on arithmetic limits and not memory: peak / bandwidth.

    returns  floating-point operations for each byte

    >>> ridge(10.0, 4.0)
    2.5
    """
    return peak / bandwidth


def bound(one, peak, bandwidth):
    """What the roofline allows a pass: no machine does more, most do less.

    rate ≤ min(peak, intensity · bandwidth);   seconds ≥ flops / rate

    one      Pass
    returns  Bound
    source   Williams, Waterman & Patterson 2009, "Roofline"; Pope et al. 2022, section 2 (weights and cache are read at every step)

    >>> bound(Pass("decode", 40, 8, 2, 1), 100.0, 5.0)
    Bound(rate=20.0, seconds=2.0, by='memory', tokens=0.5)
    """
    rate = attainable(one.intensity, peak, bandwidth)
    seconds = one.flops / rate
    return Bound(rate, seconds, "memory" if one.intensity < ridge(peak, bandwidth) else "arithmetic", one.n_tokens / seconds)


class RuleOfTwo(NamedTuple):
    """2 N operations a token against the count."""

    n: int          # all parameters that one token uses, tables included
    rule: int       # 2 n
    counted: int
    error: float    # (rule - counted) / counted


def rule_of_two(config, n_past):
    """"Two operations a parameter" for one token after n_past others, against the count.

    The rule leaves out the pairs of tokens, and counts tables that are looked up in, not multiplied.

    returns  RuleOfTwo
    raises   ValueError for an encoder-decoder, or for an encoder with a past
    source   Kaplan et al. 2020, section 2.1

    >>> from core.config import ModelConfig
    >>> rule_of_two(ModelConfig(3, 4, 2, 1, 1, d_ff=2), 1)[:3]
    (62, 124, 76)
    """
    n, counted = count_parameters(config).active, forward_flops(config, 1, n_past).total
    return RuleOfTwo(n, 2 * n, counted, (2 * n - counted) / counted)


def training_estimate(config, n_tokens):
    """A whole training: 6 N D, an estimate. 2 N D forward and 4 N D back, for N parameters that a token uses and D tokens.

    returns  int, floating-point operations
    source   Kaplan et al. 2020, section 2.1

    >>> from core.config import ModelConfig
    >>> training_estimate(ModelConfig(3, 4, 2, 1, 1, d_ff=2), 10)
    3720
    """
    return 6 * count_parameters(config).active * n_tokens
