"""Reading one config.json field by field: what is missing is asked for, what can't be is named as the file names it."""

import json

from core.attention import divisors_sentence
from core.written import separated

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
ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu_fast": "gelu_tanh", "relu": "relu",
               "silu": "silu"}
LONG = ("vocab_size", "n_positions", "max_position_embeddings")  # may go beyond a million


class Reader:
    """A config.json that remembers what was asked of it and what it had to be told."""

    def __init__(self, fields):
        self.fields, self.notes, self.names = fields, [], {}
        self.asked, self.idle = set(), set()  # idle: read, but no array depends on them

    def need(self, name):
        """A field that can't be done without.

        raises   ValueError that asks for it
        returns  its value
        """
        self.asked.add(name)
        if self.fields.get(name) is None:
            raise ValueError(f'"{name}" is missing from this {self.fields["model_type"]} config.json; add it, the count depends on it.')
        return self.fields[name]

    def size(self, name, least=1):
        """A size that can't be done without.

        raises   ValueError that asks for it, or says what it must be
        returns  int
        """
        return self._checked(name, self.need(name), least)

    def maybe(self, name):
        """A size that may be missing, or null: then None.

        raises   ValueError that says what it must be
        returns  int or None
        """
        self.asked.add(name)
        return None if self.fields.get(name) is None else self._checked(name, self.fields[name], 1)

    def longest(self):
        """How many tokens are read at most, where no table of positions depends on it; None where the file does not say."""
        self.idle.add("max_position_embeddings")
        return self.maybe("max_position_embeddings")

    def _checked(self, name, value, least):
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            if value > (most := 10**9 if name in LONG else 10**6):
                raise ValueError(f'"{name}" is {told(value)}; no model has so many, so give {most:,} or less.')
            return value
        raise ValueError(f'"{name}" is {told(value)}; it must be a whole number of {least} or more, written without quotation marks '
                         'and without a point.')

    def take(self, name, default):
        """A field that a file may leave out, or set to null: then the format's own default counts, and the note says so."""
        self.asked.add(name)
        if self.fields.get(name) is None:
            self.notes.append(f"{name} is not given; this format's default is {_plain(default)}.")
            return default
        if isinstance(default, bool) and not isinstance(self.fields[name], bool):
            raise ValueError(f'"{name}" is {told(self.fields[name])}; it must be true or false.')
        if isinstance(default, int) and not isinstance(default, bool):
            return self._checked(name, self.fields[name], 1)
        return self.fields[name]

    def refuse(self, name, allowed, why):
        """A choice that changes the arrays in a way this reader doesn't know.

        raises  ValueError where it was made
        """
        self.asked.add(name)
        if name in self.fields and self.fields[name] not in allowed:
            raise ValueError(f'"{name}" is {told(self.fields[name])} in this {self.fields["model_type"]} config.json; {why}')

    def activation(self, name):
        """The bend between the two matrices, by our name.

        raises   ValueError for one that isn't known
        returns  str
        """
        found = self.need(name)
        if not isinstance(found, str) or found not in ACTIVATIONS:
            raise ValueError(f'"{name}" is {told(found)}; it can be {", ".join(ACTIVATIONS)}.')
        return ACTIVATIONS[found]

    def heads(self, sizes):
        """Refuse heads that don't divide, by the file's own names.

        raises  ValueError that says which would
        """
        width, heads, shared = (sizes.get(name) for name in ("d_model", "n_heads", "n_kv_heads"))
        if sizes.get("d_head") is None and "latent" not in sizes and width % heads:
            raise ValueError(f'"{self.names["d_model"]}" {width:,} can\'t be cut into {heads:,} equal heads ("{self.names["n_heads"]}"): '
                             + _work(width))
        if shared is not None and heads % shared:
            raise ValueError(f'{heads:,} heads ("{self.names["n_heads"]}") can\'t share {shared:,} key/value heads '
                             f'("num_key_value_heads") evenly: {_work(heads).replace("head", "key/value head")}')


def _work(width):
    """The counts that divide a width, as the end of a sentence."""
    sentence = separated(divisors_sentence(width))
    return sentence[0].lower() + sentence[1:]


def _plain(default):
    """A format's default in words."""
    return told(default) if isinstance(default, bool) else f"{default:,}" if isinstance(default, int) else default


def told(value):
    """A value as a config.json writes it, cut where it is long; what has no letter of its own stands as its code.

    >>> told("wide"), told(None), told("w" * 50)
    ('"wide"', 'null', '"wwwwwwwwwwwwwwwwwwwwwwwwwwwwwww…')
    """
    try:
        written = json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        written = "a list within lists"
    written = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in written)
    return written if len(written) <= 40 else written[:32] + "…"
