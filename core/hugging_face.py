"""The config.json of a published model, read for accounting: what is missing is asked for, what is not understood is named."""

from core.published_config import Experts, Latent, PublishedConfig

WITHOUT_SIZE = """
    architectures model_type _name_or_path name_or_path transformers_version torch_dtype dtype use_cache initializer_range
    initializer_factor bos_token_id eos_token_id pad_token_id decoder_start_token_id unk_token_id task_specific_params pretraining_tp
    return_dict output_attentions output_hidden_states gradient_checkpointing layer_norm_epsilon layer_norm_eps rms_norm_eps
    dropout_rate attention_dropout attn_pdrop embd_pdrop resid_pdrop hidden_dropout attention_probs_dropout_prob hidden_dropout_prob
    classifier_dropout embd_layer_norm summary_type summary_use_proj summary_activation summary_first_dropout summary_proj_to_labels
    n_ctx is_encoder_decoder is_decoder rope_theta rope_scaling rope_interleaved rotary_pct rotary_emb_base partial_rotary_factor
    sliding_window sliding_window_size use_sliding_window max_window_layers layer_types cache_implementation query_pre_attn_scalar
    attn_logit_softcapping final_logit_softcapping quantization_config router_aux_loss_coef output_router_logits router_jitter_noise
    relative_attention_max_distance n_positions max_position_embeddings classifier_dropout_prob position_embedding_type auto_map
    aux_loss_alpha ep_size n_group topk_group topk_method norm_topk_prob routed_scaling_factor scoring_func seq_aux
    num_nextn_predict_layers qk_head_dim scale_attn_weights scale_attn_by_inverse_layer_idx reorder_and_upcast_attn id2label label2id
    finetuning_task use_parallel_residual
"""  # nothing here changes the size of an array that is counted
NEUTRAL = frozenset(WITHOUT_SIZE.split())
SAME_NAMES = {"vocab_size": "vocab_size", "d_model": "hidden_size", "n_layers": "num_hidden_layers", "n_heads": "num_attention_heads",
              "d_ff": "intermediate_size"}
GROUPED = SAME_NAMES | {"n_kv_heads": "num_key_value_heads"}
ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu_fast": "gelu_tanh", "relu": "relu",
               "silu": "silu"}
WIDE = GROUPED | {"d_head": "head_dim"}
GATES = {"silu": "swiglu", "gelu": "geglu", "gelu_tanh": "geglu"}
BIAS_FLAGS = {"attention_bias": ("qkv", "o"), "mlp_bias": ("ff", "gate")}
RMS = {"kind": "decoder", "norm": "rms", "positions": "rotary", "activation": "swiglu"}
ALL = ("qkv", "o", "ff", "norm")


class Reader:
    """A config.json that remembers what was asked of it and what it had to be told."""

    def __init__(self, fields):
        self.fields, self.asked, self.notes = fields, set(), []

    def need(self, name):
        """A field that can't be done without.

        raises   ValueError that asks for it
        returns  its value
        """
        self.asked.add(name)
        if self.fields.get(name) is None:
            raise ValueError(f'"{name}" is missing from this {self.fields["model_type"]} config.json; add it, the count depends on it.')
        return self.fields[name]

    def take(self, name, default):
        """A field that a file may leave out, or set to null: then the format's own default counts, and the note says so."""
        self.asked.add(name)
        if self.fields.get(name) is None:
            self.notes.append(f"{name} is not given; this format's default is {default}.")
            return default
        if isinstance(default, bool) and not isinstance(self.fields[name], bool):
            raise ValueError(f'"{name}" is {self.fields[name]!r}; it must be true or false.')
        return self.fields[name]

    def refuse(self, name, allowed, why):
        """A choice that changes the arrays in a way this reader doesn't know.

        raises  ValueError where it was made
        """
        self.asked.add(name)
        if name in self.fields and self.fields[name] not in allowed:
            raise ValueError(f'"{name}" is {self.fields[name]!r} in this {self.fields["model_type"]} config.json; {why}')

    def activation(self, name):
        """The bend between the two matrices, by our name.

        raises   ValueError for one that isn't known
        returns  str
        """
        found = self.need(name)
        if not isinstance(found, str) or found not in ACTIVATIONS:
            raise ValueError(f'"{name}" is {found!r}; it can be {", ".join(ACTIVATIONS)}.')
        return ACTIVATIONS[found]


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
    if not isinstance(config_json, dict):
        raise ValueError(f"A config.json holds names with values (a dict), not {type(config_json).__name__}.")
    family = config_json.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        raise ValueError(f'"model_type" is {family!r}; this reader knows {", ".join(FAMILIES)}.')
    reader = Reader(config_json)
    sizes = FAMILIES[family](reader)
    if unknown := sorted(str(name) for name in set(config_json) - reader.asked - NEUTRAL):
        reader.notes.append(f"Not known here and not counted: {', '.join(unknown)}.")
    name = config_json.get("_name_or_path") or family
    return PublishedConfig(name=str(name), note=" ".join(reader.notes), **sizes)


def named(reader, names):
    """The sizes of a family by its own names.

    returns  {our name: size}
    """
    return {ours: reader.need(theirs) for ours, theirs in names.items()}


def gpt2(r):
    """GPT-2."""
    r.refuse("add_cross_attention", (False, None), "cross-attention in a decoder is not counted here.")
    sizes = named(r, {"vocab_size": "vocab_size", "d_model": "n_embd", "n_layers": "n_layer", "n_heads": "n_head", "n_ctx": "n_positions"})
    wide = 4 * sizes["d_model"] if isinstance(sizes["d_model"], int) else 0  # PublishedConfig refuses what is no whole number
    given = r.fields.get("activation_function") is not None
    activation = r.activation("activation_function") if given else ACTIVATIONS[r.take("activation_function", "gelu_new")]
    return sizes | {"kind": "decoder", "d_ff": r.take("n_inner", wide), "activation": activation, "biases": ALL,
                    "tied": r.take("tie_word_embeddings", True)}


def bert(r):
    """BERT, as its encoder with the pooler."""
    r.refuse("position_embedding_type", ("absolute", None), "only absolute positions are counted here.")
    r.refuse("add_cross_attention", (False, None), "cross-attention is not counted here.")
    r.notes.append("Counted with the pooler and without an output layer.")
    r.asked.add("tie_word_embeddings")
    return named(r, SAME_NAMES | {"n_ctx": "max_position_embeddings", "n_token_types": "type_vocab_size"}) | {
        "kind": "encoder", "activation": r.activation("hidden_act"), "norm_position": "post", "biases": ALL, "embedding_norm": True,
        "pooler": True, "head": False}


def t5(r):
    """T5, with one matrix before the bend or two."""
    sizes = named(r, {"vocab_size": "vocab_size", "d_model": "d_model", "n_layers": "num_layers", "n_heads": "num_heads", "d_ff": "d_ff",
                      "d_head": "d_kv", "n_buckets": "relative_attention_num_buckets"})
    kinds = {"relu": "relu", "gated-gelu": "geglu", "gated-silu": "swiglu"}
    r.refuse("feed_forward_proj", (*kinds, None), f"it can be {', '.join(kinds)}.")
    r.asked |= {"dense_act_fn", "is_gated_act"}  # said again by feed_forward_proj
    return sizes | {"kind": "encoder-decoder", "n_decoder_layers": r.take("num_decoder_layers", sizes["n_layers"]), "norm": "rms",
                    "positions": "relative", "activation": kinds[r.take("feed_forward_proj", "relu")],
                    "tied": r.take("tie_word_embeddings", True)}


def llama(r, needed=GROUPED, tied=False, gate="hidden_act", flags=(), **more):
    """Llama and its kin; `needed` names the sizes that the file must give, `flags` the biases that it may have."""
    sizes = named(r, needed) | {"n_ctx": r.fields.get("max_position_embeddings")}
    if "n_kv_heads" not in sizes:
        sizes["n_kv_heads"] = r.take("num_key_value_heads", sizes["n_heads"])
    if "d_head" not in sizes:
        r.asked.add("head_dim")
        sizes["d_head"] = r.fields.get("head_dim")
    if flags:
        more["biases"] = sum((BIAS_FLAGS[flag] for flag in flags if r.take(flag, False)), ())
    for flag in set(BIAS_FLAGS) - set(flags):
        r.refuse(flag, (False, None), "biases of that kind are not counted for this family.")
    bend = r.activation(gate)
    if bend not in GATES:
        raise ValueError(f'"{gate}" is {r.fields[gate]!r}; for a gate it can be silu or gelu.')
    return RMS | sizes | {"activation": GATES[bend], "tied": r.take("tie_word_embeddings", tied)} | more


def gemma(r, **more):
    """Gemma: heads of their own width, a GELU gate, one table. Its first files say "gelu" and mean the tanh form."""
    newer = r.fields.get("hidden_activation") is not None
    r.asked |= {"hidden_act", "hidden_activation"}
    return llama(r, WIDE, True, "hidden_activation" if newer else "hidden_act", ("attention_bias",), **more)


def mixtral(r):
    """Mixtral: a router and experts in place of the feed-forward layer."""
    return llama(r, experts=Experts(r.need("num_local_experts"), r.need("num_experts_per_tok"), r.need("intermediate_size")))


def phi(r):
    """Phi: attention and feed-forward side by side behind one norm; biases everywhere, also after the output."""
    r.refuse("qk_layernorm", (False, None), "norms of queries and keys with offsets are not counted here.")
    sizes = named(r, SAME_NAMES)
    return sizes | {"kind": "decoder", "n_ctx": r.fields.get("max_position_embeddings"), "positions": "rotary",
                    "n_kv_heads": r.take("num_key_value_heads", sizes["n_heads"]),
                    "activation": r.activation("hidden_act"), "norms_per_block": 1, "parallel": True, "biases": (*ALL, "unembed"),
                    "tied": r.take("tie_word_embeddings", False)}


def gpt_neox(r):
    """GPT-NeoX and Pythia: two norms side by side, biases everywhere but after the output."""
    biases = ALL if r.take("attention_bias", True) else ("ff", "norm")
    return named(r, SAME_NAMES) | {"kind": "decoder", "positions": "rotary", "activation": r.activation("hidden_act"), "biases": biases,
                                   "n_ctx": r.fields.get("max_position_embeddings"),
                                   "parallel": r.take("use_parallel_residual", True), "tied": r.take("tie_word_embeddings", False)}


def deepseek_v3(r):
    """DeepSeek-V3: latent attention, a few dense layers, then experts; without the module that predicts further tokens."""
    r.refuse("moe_layer_freq", (1, None), "only experts in every later layer are counted here.")
    r.refuse("attention_bias", (False, None), "biases of latent attention are not counted here.")
    r.notes.append("Counted without the module that predicts further tokens.")
    r.asked |= {"num_key_value_heads", "q_lora_rank"}  # latent attention has no key/value heads to share
    q_rank = r.fields["q_lora_rank"] if "q_lora_rank" in r.fields else r.need("q_lora_rank")  # null means: no narrow vector
    r.refuse("hidden_act", ("silu", None), "a gate of that kind is not known here.")
    return RMS | named(r, SAME_NAMES) | {
        "n_ctx": r.fields.get("max_position_embeddings"),
        "latent": Latent(*(r.need(name) for name in ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")),
                         q_rank),
        "experts": Experts(*(r.need(name) for name in ("n_routed_experts", "num_experts_per_tok", "moe_intermediate_size",
                                                       "n_shared_experts", "first_k_dense_replace")), router_bias=True),
        "tied": r.take("tie_word_embeddings", False)}


FAMILIES = {
    "gpt2": gpt2, "bert": bert, "t5": t5, "llama": lambda r: llama(r, SAME_NAMES, flags=("attention_bias", "mlp_bias")), "mistral": llama,
    "gemma": gemma, "gemma2": lambda r: gemma(r, norms_per_block=4), "qwen2": lambda r: llama(r, biases=("qkv",)),
    "qwen3": lambda r: llama(r, WIDE, flags=("attention_bias",), qk_norm=True), "mixtral": mixtral, "phi": phi, "gpt_neox": gpt_neox,
    "deepseek_v3": deepseek_v3}
