"""A model's numbers, taken apart: model, part, array; what is counted by each convention; and the rule of 12 d²."""

import csv
import dataclasses
import io
import math
import re
from typing import NamedTuple

import numpy as np

from core import transformer
from core.accounting import count_parameters, published
from core.optimizer import walk
from core.parameter_rows import ParameterRow

WHOLE = ()  # the path of the whole model
STACKS = {"blocks": ("all blocks", "one block"), "encoder": ("all encoder layers", "one encoder layer"),
          "decoder": ("all decoder layers", "one decoder layer")}
UNITS = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K"))
SIZES = ("d_model", "n_heads", "n_kv_heads", "d_head", "d_ff")


class Entry(NamedTuple):
    """A part of a model, or one kind of array."""

    path: tuple[str, ...]
    count: int
    active: int                      # numbers that one token uses
    times: int                       # of an array: how often it occurs here
    row: ParameterRow | None         # of an array
    children: tuple[tuple[str, ...], ...]   # paths of what it is made of, in the order of the ledger

    @property
    def label(self):
        """Its path in words."""
        return " › ".join(self.path) or "the whole model"


class Totals(NamedTuple):
    """The numbers of a model, by convention."""

    total: int           # every array once: a table shared by input and output counts once
    apart: int | None    # with an output table of its own, shared or not; None without an output
    without_tables: int  # without the tables of tokens, positions and segments, and without the output
    matrices: int        # the matrices of the blocks alone: no biases, no gains
    active: int          # that one token uses
    tables: int          # the tables and the output: what without_tables leaves out


class Rule(NamedTuple):
    """One block against 12 d²."""

    d_model: int
    exact: int
    rule: int

    @property
    def square(self):
        """d²."""
        return self.d_model**2

    @property
    def error(self):
        """How far the rule is from the block, as a share of the block."""
        return abs(self.exact - self.rule) / self.exact

    @property
    def factor(self):
        """What stands before d² in truth."""
        return self.exact / self.square


def place(name):
    """Where an array belongs: (part, group in a block or None, its own name).

    >>> place("blocks[i].attention.w_qkv"), place("w_pos")
    (('blocks', 'attention', 'w_qkv'), ('embeddings', None, 'w_pos'))
    """
    stack, _, inside = name.partition("[i].")
    if inside:
        group, _, rest = inside.partition(".")
        if group.startswith("norm"):
            return stack, "norms", inside
        if group in ("router", "experts[j]", "shared[j]"):
            return stack, "experts", inside
        return stack, group.replace("_", "-"), rest
    if name.startswith("final_norm"):
        return "final norm", None, name
    if name.startswith("pooler"):
        return "pooler", None, name
    return ("output" if name.endswith("_unembed") else "embeddings"), None, name


def entries(config):
    """Every part of a model and every array: {path: Entry}, the whole model first.

    Beside "all blocks" stands "one block", which is not part of any sum. Where a few layers are dense and the others have experts, the
    one block is one with experts.

    config   ModelConfig or PublishedConfig
    returns  dict
    raises   ValueError as `count_parameters` does

    >>> from core.config import ModelConfig
    >>> found = entries(ModelConfig(10, 5, 2, 3, 1, norm="none", bias=False))
    >>> found[()].count, found["all blocks",].count, found["one block",].count, found["one block", "attention", "w_o"].count
    (174, 144, 48, 4)
    """
    c, found, one = published(config), {}, {}
    for row in sorted(count_parameters(c).rows, key=lambda row: place(row.name)[1] == "norms"):
        part, group, own = place(row.name)
        all_of_them, single = STACKS.get(part, (part, None))
        inner = (own,) if group is None else (group, own)
        _add(found, (all_of_them, *inner), row.count, row.active, row.times, row)
        if single is not None and (share := _in_one_block(c, row, part)):
            size = math.prod(row.shape)
            _add(one, (single, *inner), share[0] * size, share[1] * size, share[0], row)
    total = sum(entry.count for path, entry in found.items() if len(path) == 1)
    active = sum(entry.active for path, entry in found.items() if len(path) == 1)
    found[WHOLE] = Entry(WHOLE, total, active, 1, None, tuple(path for path in found if len(path) == 1))
    return _in_order(found, WHOLE) | {path: entry for top in [path for path in one if len(path) == 1]
                                      for path, entry in _in_order(one, top).items()}


def _in_order(found, path):
    """What is below a path, each part before what it is made of."""
    below = {path: found[path]}
    for child in found[path].children:
        below |= _in_order(found, child)
    return below


def _in_one_block(c, row, part):
    """How often an array occurs in one block, and how many of these a token uses; None where that block has none."""
    n_layers = c.n_decoder_layers if part == "decoder" else c.n_layers
    if c.experts is None or c.experts.n_dense_layers == n_layers:
        return row.times // n_layers, row.times // n_layers
    if ".feed_forward." in row.name:
        return None  # of the dense layers
    layers = n_layers - c.experts.n_dense_layers if place(row.name)[1] == "experts" else n_layers
    return row.times // layers, row.active // math.prod(row.shape) // layers


def _add(found, path, count, active, times, row):
    """An array, added to each part that it belongs to."""
    for depth in range(1, len(path)):
        above, child = path[:depth], path[:depth + 1]
        entry = found.get(above, Entry(above, 0, 0, 1, None, ()))
        found[above] = entry._replace(count=entry.count + count, active=entry.active + active,
                                      children=tuple(dict.fromkeys((*entry.children, child))))
    found[path] = Entry(path, count, active, times, row, ())


def totals(config):
    """The numbers of a model by each convention.

    config   ModelConfig or PublishedConfig
    returns  Totals
    raises   ValueError as `count_parameters` does
    source   Kaplan et al. 2020, section 2.1 (without the tables); Press & Wolf 2017 (one table for input and output)

    >>> from core.published_models import MODELS
    >>> totals(MODELS["gpt2"])[:4]
    (124439808, 163037184, 85056000, 84934656)
    """
    c, count, tables = published(config), count_parameters(config), sum(row.count for row in table_rows(config))
    matrices = sum(row.count for row in count.rows if len(row.shape) == 2 and place(row.name)[0] in STACKS)
    apart = None if not c.head else count.total + (c.vocab_size * c.d_model if c.tied else 0)
    return Totals(count.total, apart, count.total - tables, matrices, count.active, tables)


def table_rows(config):
    """The tables of tokens, positions and segments, and the output where it has arrays of its own.

    returns  tuple of ParameterRow

    >>> from core.published_models import MODELS
    >>> [row.name for row in table_rows(MODELS["gpt2"])]
    ['w_embed', 'w_pos']
    """
    return tuple(row for row in count_parameters(config).rows
                 if row.name.startswith(("w_embed", "w_pos", "w_types")) or row.part == "logits")


def block_parts(config):
    """What one block is made of. Of an encoder–decoder: one encoder layer. Where layers differ: one with experts.

    returns  tuple of Entry

    >>> from core.published_models import MODELS
    >>> [(part.path[-1], part.count) for part in block_parts(MODELS["gpt2"])]
    [('attention', 2362368), ('feed-forward', 4722432), ('norms', 3072)]
    """
    stack, found = "encoder" if published(config).kind == "encoder-decoder" else "blocks", entries(config)
    return tuple(found[child] for child in found[(STACKS[stack][1],)].children)


def rule(config):
    """One block against the rule of 12 d²: attention 4 d² and a feed-forward layer of width 4 d with 8 d².

    returns  Rule
    source   Kaplan et al. 2020, section 2.1

    >>> from core.published_models import MODELS
    >>> rule(MODELS["gpt2"]), round(rule(MODELS["gpt2"]).error, 6)
    (Rule(d_model=768, exact=7087872, rule=7077888), 0.001409)
    """
    c = published(config)
    return Rule(c.d_model, sum(part.count for part in block_parts(c)), 12 * c.d_model**2)


def regrouped(config, n_heads, n_kv_heads=None):
    """The same model with another number of heads that share the same width; as many key/value heads unless given.

    returns  PublishedConfig
    raises   ValueError where the width can't be cut so
    """
    return dataclasses.replace(config, n_heads=n_heads, n_kv_heads=n_kv_heads, d_head=None)


def with_heads(config, n_heads, n_kv_heads=None):
    """One block with another number of heads that share the same width: (attention, feed-forward, norms, all of it).

    n_kv_heads  as many as heads unless given
    returns     tuple of int
    raises      ValueError where the width can't be cut so

    >>> from core.published_models import MODELS
    >>> with_heads(MODELS["gpt2"], 3), with_heads(MODELS["gpt2"], 12, 1)[0]
    ((2362368, 4722432, 3072, 7087872), 1279616)
    """
    found = entries(regrouped(config, n_heads, n_kv_heads))
    return (*(found["one block", name].count for name in ("attention", "feed-forward", "norms")), found["one block",].count)


def short(number):
    """A number in four digits with its unit, as models are called; no line breaks before the unit.

    >>> short(124439808), short(671026419200), short(640), short(999960)
    ('124.4\\xa0M', '671.0\\xa0B', '640', '1.0\\xa0M')
    """
    for size, unit in UNITS:
        if number >= 0.99995 * size:
            return f"{number / size:.1f}\N{NO-BREAK SPACE}{unit}"
    return str(number)


def with_sizes(reason, config):
    """The sizes of a config put into the reason of an array; "" where the reason names none.

    >>> from core.published_models import MODELS
    >>> with_sizes("d_model × (n_heads + 2 n_kv_heads) · d_head", MODELS["gpt2"])
    '768 × (12 + 2 · 12) · 64'
    """
    c = published(config)
    sizes = {name: getattr(c, name) for name in SIZES}
    for more in filter(None, (c.latent, c.experts)):
        sizes |= more._asdict()
    named = re.sub(r"(\d) (?=[a-z])", r"\1 · ", reason)
    put = re.sub(r"\b[a-z]+(?:_[a-z]+)+\b", lambda word: f"{sizes[word[0]]:,}" if sizes.get(word[0]) is not None else word[0], named)
    return put if put != named else ""


def as_csv(config):
    """The ledger as a file for a spreadsheet, its last line the sum.

    returns  str
    """
    file, count = io.StringIO(), count_parameters(config)
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["array", "shape", "times", "numbers", "numbers one token uses", "part", "why"])
    for row in count.rows:
        out.writerow([row.name, " x ".join(map(str, row.shape)), row.times, row.count, row.active, row.part, row.reason])
    out.writerow(["all", "", "", count.total, count.active, "", ""])
    return file.getvalue()


def gap_to_arrays(config):
    """How far a ledger is from the arrays that `init_params` really makes: numbers too many or too few, plus arrays of another shape.

    config   ModelConfig
    returns  int, 0 where the ledger is right

    >>> from core.config import ModelConfig
    >>> gap_to_arrays(ModelConfig(10, 5, 2, 3, 1))
    0
    """
    made, numbers = {}, 0
    for path, array in walk(transformer.init_params(config, np.random.default_rng(0))):
        key = re.sub(r"\.\d+\.", "[i].", ".".join(map(str, path))), array.shape
        made[key] = made.get(key, 0) + 1
        numbers += array.size
    count = count_parameters(config)
    listed = {(row.name, row.shape, row.times) for row in count.rows}
    return abs(count.total - numbers) + len(listed ^ {(*key, times) for key, times in made.items()})
