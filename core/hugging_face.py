"""The config.json of a published model, by family: which fields its sizes are in, and what its format's own defaults are."""

from typing import NamedTuple

from core.config_reader import ACTIVATIONS, NEUTRAL, Reader, told
from core.published_config import Experts, Latent, PublishedConfig

SAME_NAMES = {"vocab_size": "vocab_size", "d_model": "hidden_size", "n_layers": "num_hidden_layers", "n_heads": "num_attention_heads",
              "d_ff": "intermediate_size"}
GROUPED = SAME_NAMES | {"n_kv_heads": "num_key_value_heads"}
WIDE = GROUPED | {"d_head": "head_dim"}
GATES = {"silu": "swiglu", "gelu": "geglu", "gelu_tanh": "geglu"}
BIAS_FLAGS = {"attention_bias": ("qkv", "o"), "mlp_bias": ("ff", "gate")}
RMS = {"kind": "decoder", "norm": "rms", "positions": "rotary", "activation": "swiglu"}
ALL = ("qkv", "o", "ff", "norm")


class Reading(NamedTuple):
    """What was read of a config.json."""

    config: PublishedConfig
    used: tuple[str, ...]      # fields that the count rests on
    neutral: tuple[str, ...]   # known fields that change no array
    unknown: tuple[str, ...]   # fields that are not known here
    notes: tuple[str, ...]     # defaults that were taken, and what the count holds


def from_hugging_face(config_json):
    """The sizes in a config.json as a PublishedConfig.

    Sizes must be given. A choice that is left out is taken from the format's own default, and the note says so; so does it for fields
    that are not known here.

    config_json  dict, as the file holds it
    returns      PublishedConfig
    raises       ValueError where the family is not known, a size is missing, or a choice changes arrays in a way not counted here
    source       the configuration classes of the Hugging Face library `transformers`

    >>> from_hugging_face({"model_type": "gpt2", "vocab_size": 9, "n_positions": 4, "n_embd": 8, "n_layer": 1, "n_head": 2}).d_ff
    32
    """
    return reading(config_json).config


def reading(config_json):
    """The same, and which fields it rests on, which change nothing, and which are not known.

    returns  Reading
    raises   ValueError as `from_hugging_face` does

    >>> file = {"model_type": "gpt2", "vocab_size": 9, "n_positions": 4, "n_embd": 8, "n_layer": 1, "n_head": 2}
    >>> reading(file | {"resid_pdrop": 0.1, "colour": "blue"})[2:4]
    (('resid_pdrop',), ('colour',))
    """
    if not isinstance(config_json, dict):
        raise ValueError(f"A config.json holds names with values (a dict), not {type(config_json).__name__}.")
    family = config_json.get("model_type")
    known = f"this reader knows {', '.join(FAMILIES)}."
    if family is None:
        raise ValueError(f'"model_type" is missing from this config.json, and it says which other fields to look for; {known}')
    if not isinstance(family, str) or family not in FAMILIES:
        raise ValueError(f'"model_type" is {told(family)}; {known}')
    reader = Reader(config_json)
    sizes = FAMILIES[family](reader)
    reader.heads(sizes)
    here = [str(name) for name in config_json]
    unknown = tuple(sorted(name for name in here if name not in reader.asked | reader.idle | NEUTRAL))
    used = tuple(name for name in here if name == "model_type" or (name in reader.asked and name not in reader.idle))
    neutral = tuple(name for name in here if name not in used and name not in unknown)
    note = [*reader.notes, *([f"Not known here and not counted: {', '.join(unknown)}."] if unknown else [])]
    config = PublishedConfig(name=str(config_json.get("_name_or_path") or family)[:60], note=" ".join(note), **sizes)
    return Reading(config, used, neutral, unknown, tuple(reader.notes))


def named(reader, names):
    """The sizes of a family by its own names.

    returns  {our name: size}
    """
    reader.names |= names
    return {ours: reader.size(theirs, 0 if ours == "n_token_types" else 1) for ours, theirs in names.items()}


def gpt2(r):
    """GPT-2."""
    r.refuse("add_cross_attention", (False, None), "cross-attention in a decoder is not counted here.")
    sizes = named(r, {"vocab_size": "vocab_size", "d_model": "n_embd", "n_layers": "n_layer", "n_heads": "n_head", "n_ctx": "n_positions"})
    given = r.fields.get("activation_function") is not None
    activation = r.activation("activation_function") if given else ACTIVATIONS[r.take("activation_function", "gelu_new")]
    return sizes | {"kind": "decoder", "d_ff": r.take("n_inner", 4 * sizes["d_model"]), "activation": activation, "biases": ALL,
                    "tied": r.take("tie_word_embeddings", True)}


def bert(r):
    """BERT, as its encoder with the pooler."""
    r.refuse("position_embedding_type", ("absolute", None), "only absolute positions are counted here.")
    r.refuse("add_cross_attention", (False, None), "cross-attention is not counted here.")
    r.notes.append("Counted with the pooler and without an output layer.")
    r.idle.add("tie_word_embeddings")
    return named(r, SAME_NAMES | {"n_ctx": "max_position_embeddings", "n_token_types": "type_vocab_size"}) | {
        "kind": "encoder", "activation": r.activation("hidden_act"), "norm_position": "post", "biases": ALL, "embedding_norm": True,
        "pooler": True, "head": False}


def t5(r):
    """T5, with one matrix before the bend or two."""
    sizes = named(r, {"vocab_size": "vocab_size", "d_model": "d_model", "n_layers": "num_layers", "n_heads": "num_heads", "d_ff": "d_ff",
                      "d_head": "d_kv", "n_buckets": "relative_attention_num_buckets"})
    kinds = {"relu": "relu", "gated-gelu": "geglu", "gated-silu": "swiglu"}
    r.refuse("feed_forward_proj", (*kinds, None), f"it can be {', '.join(kinds)}.")
    r.idle |= {"dense_act_fn", "is_gated_act"}  # said again by feed_forward_proj
    return sizes | {"kind": "encoder-decoder", "n_decoder_layers": r.take("num_decoder_layers", sizes["n_layers"]), "norm": "rms",
                    "positions": "relative", "activation": kinds[r.take("feed_forward_proj", "relu")],
                    "tied": r.take("tie_word_embeddings", True)}


def llama(r, needed=GROUPED, tied=False, gate="hidden_act", flags=(), **more):
    """Llama and its kin; `needed` names the sizes that the file must give, `flags` the biases that it may have."""
    sizes = named(r, needed) | {"n_ctx": r.longest()}
    if "n_kv_heads" not in sizes:
        sizes["n_kv_heads"] = r.take("num_key_value_heads", sizes["n_heads"])
    if "d_head" not in sizes:
        sizes["d_head"] = r.maybe("head_dim")
    if flags:
        more["biases"] = sum((BIAS_FLAGS[flag] for flag in flags if r.take(flag, False)), ())
    for flag in set(BIAS_FLAGS) - set(flags):
        r.refuse(flag, (False, None), "biases of that kind are not counted for this family.")
    bend = r.activation(gate)
    if bend not in GATES:
        raise ValueError(f'"{gate}" is {told(r.fields[gate])}; for a gate it can be silu or gelu.')
    return RMS | sizes | {"activation": GATES[bend], "tied": r.take("tie_word_embeddings", tied)} | more


def gemma(r, **more):
    """Gemma: heads of their own width, a GELU gate, one table. Its first files say "gelu" and mean the tanh form."""
    newer = r.fields.get("hidden_activation") is not None
    r.idle.add("hidden_act" if newer else "hidden_activation")
    return llama(r, WIDE, True, "hidden_activation" if newer else "hidden_act", ("attention_bias",), **more)


def mixtral(r):
    """Mixtral: a router and experts in place of the feed-forward layer."""
    return llama(r, experts=Experts(r.size("num_local_experts"), r.size("num_experts_per_tok"), r.size("intermediate_size")))


def phi(r):
    """Phi: attention and feed-forward side by side behind one norm; biases everywhere, also after the output."""
    r.refuse("qk_layernorm", (False, None), "norms of queries and keys with offsets are not counted here.")
    sizes = named(r, SAME_NAMES)
    return sizes | {"kind": "decoder", "n_ctx": r.longest(), "positions": "rotary",
                    "n_kv_heads": r.take("num_key_value_heads", sizes["n_heads"]),
                    "activation": r.activation("hidden_act"), "norms_per_block": 1, "parallel": True, "biases": (*ALL, "unembed"),
                    "tied": r.take("tie_word_embeddings", False)}


def gpt_neox(r):
    """GPT-NeoX and Pythia: two norms side by side, biases everywhere but after the output."""
    biases = ALL if r.take("attention_bias", True) else ("ff", "norm")
    return named(r, SAME_NAMES) | {"kind": "decoder", "positions": "rotary", "activation": r.activation("hidden_act"), "biases": biases,
                                   "n_ctx": r.longest(),
                                   "parallel": r.take("use_parallel_residual", True), "tied": r.take("tie_word_embeddings", False)}


def deepseek_v3(r):
    """DeepSeek-V3: latent attention, a few dense layers, then experts; without the module that predicts further tokens."""
    r.refuse("moe_layer_freq", (1, None), "only experts in every later layer are counted here.")
    r.refuse("attention_bias", (False, None), "biases of latent attention are not counted here.")
    r.notes.append("Counted without the module that predicts further tokens.")
    r.idle |= {"num_key_value_heads"}  # latent attention has no key/value heads to share
    q_rank = r.maybe("q_lora_rank") if "q_lora_rank" in r.fields else r.need("q_lora_rank")  # null means: no narrow vector
    r.refuse("hidden_act", ("silu", None), "a gate of that kind is not known here.")
    return RMS | named(r, SAME_NAMES) | {
        "n_ctx": r.longest(),
        "latent": Latent(*(r.size(name) for name in ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")),
                         q_rank),
        "experts": Experts(*(r.size(name, least) for name, least in (
            ("n_routed_experts", 1), ("num_experts_per_tok", 1), ("moe_intermediate_size", 1), ("n_shared_experts", 0),
            ("first_k_dense_replace", 0))), router_bias=True),
        "tied": r.take("tie_word_embeddings", False)}


FAMILIES = {
    "gpt2": gpt2, "bert": bert, "t5": t5, "llama": lambda r: llama(r, SAME_NAMES, flags=("attention_bias", "mlp_bias")), "mistral": llama,
    "gemma": gemma, "gemma2": lambda r: gemma(r, norms_per_block=4), "qwen2": lambda r: llama(r, biases=("qkv",)),
    "qwen3": lambda r: llama(r, WIDE, flags=("attention_bias",), qk_norm=True), "mixtral": mixtral, "phi": phi, "gpt_neox": gpt_neox,
    "deepseek_v3": deepseek_v3}
