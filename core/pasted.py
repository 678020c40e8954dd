"""A pasted config.json: text that somebody copied, read with one clear sentence for whatever is wrong with it."""

import json
from typing import NamedTuple

from core.config_reader import told
from core.hugging_face import Reading, reading

MOST = 200_000    # characters; a config.json has a few thousand
LONGEST = 18      # digits of a whole number; no size has more than ten
FAULTS = (
    # how Python's json begins to say it, and what a person should do
    ("Expecting property name", "a name in double quotes must follow, such as \"n_embd\"; look for single quotes or a comma too many"),
    ("Illegal trailing comma", "a comma stands before the closing bracket; take it out"),
    ("Expecting ':'", "a colon must stand between a name and its value"),
    ("Expecting ','", "a comma or a closing bracket is missing before this place"),
    ("Expecting value", "a value is missing, or it is no number, text in double quotes, true, false or null"),
    ("Unterminated string", "the text that begins here lacks its closing double quote"),
    ("Invalid control character", "a line ends, or a tabulator stands, inside a text; close its double quotes first"),
    ("Invalid \\", "a backslash stands before a character that takes none; take it out"),
    ("Extra data", "the file has ended here, and more follows; paste one file alone"),
)


class Pasted(NamedTuple):
    """A pasted file that could be read."""

    reading: Reading
    compact: str   # the fields that the count rests on, as a file of one line


def read(text):
    """The fields of a config.json.

    text     what was pasted
    returns  dict
    raises   ValueError with one sentence that says what to change

    >>> read('{"n_embd": 768}')
    {'n_embd': 768}
    """
    if len(text) > MOST:
        raise ValueError(f"This text has {len(text):,} characters; a config.json has a few thousand, so paste that file alone.")
    text = text.strip().removeprefix("\ufeff").strip()
    if not text:
        raise ValueError("There is nothing here yet; paste the whole of a config.json, from { to }.")
    try:
        fields = json.loads(text, object_pairs_hook=_once, parse_int=_integer, parse_float=_decimal, parse_constant=_no_number)
    except json.JSONDecodeError as fault:
        raise ValueError(_place(text, fault)) from None
    except RecursionError:
        raise ValueError("Brackets stand within brackets here, hundreds deep; a config.json has two or three levels, "
                         "so paste that file alone.") from None
    if not isinstance(fields, dict):
        kind = {list: "a list", str: "a text", bool: "a yes or no", type(None): "nothing (null)"}.get(type(fields), "a number")
        raise ValueError(f"This is {kind}; a config.json holds names with values, from {{ to }}, so paste the whole file.")
    return fields


def count(text):
    """What is to be counted of a pasted config.json.

    text     what was pasted
    returns  Pasted
    raises   ValueError with one sentence that says what to change, as `read` and `hugging_face.reading` do

    >>> count(READY["GPT-2 small"]).compact[:52]
    '{"model_type":"gpt2","vocab_size":50257,"n_positions'
    """
    fields = read(text)
    found = reading(fields)
    kept = {"model_type": fields["model_type"]} | {name: fields[name] for name in sorted(found.used, key=_order) if name in fields}
    return Pasted(found, json.dumps(kept, separators=(",", ":")))


def _order(name):
    """The vocabulary first, then as the alphabet has it."""
    return name != "vocab_size", "position" not in name, name


def _once(pairs):
    """An object whose names stand once each."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise ValueError(f"The name {told(twice)} stands twice in one object; keep the one that is meant.")
    return fields


def _integer(digits):
    if len(digits) > LONGEST:
        raise ValueError(f"A whole number here has {len(digits.lstrip('-')):,} digits; no size of a model has more than ten.")
    return int(digits)


def _decimal(digits):
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"The number {digits[:20]}{'…' * (len(digits) > 20)} is too large to be one; write the size in plain digits.")
    return value


def _no_number(word):
    raise ValueError(f"{word} is no number that JSON has; write the size in plain digits, or take the field out.")


def _place(text, fault):
    """One sentence on where the text stops being JSON and what to do there."""
    if text[0] != "{":
        return f"This begins with {told(text[0])}, and a config.json begins with {{; paste it from {{ to }} and nothing else."
    if fault.pos >= len(text):
        return "The file breaks off before its closing }; paste it to the very end."
    what = next((advice for start, advice in FAULTS if fault.msg.startswith(start)), "this can't stand here")
    return f"This is not JSON yet: in line {fault.lineno}, at character {fault.colno}, {what}."


READY = {
    "GPT-2 small": """{
  "activation_function": "gelu_new",
  "architectures": ["GPT2LMHeadModel"],
  "attn_pdrop": 0.1,
  "bos_token_id": 50256,
  "embd_pdrop": 0.1,
  "eos_token_id": 50256,
  "initializer_range": 0.02,
  "layer_norm_epsilon": 1e-05,
  "model_type": "gpt2",
  "n_ctx": 1024,
  "n_embd": 768,
  "n_head": 12,
  "n_layer": 12,
  "n_positions": 1024,
  "resid_pdrop": 0.1,
  "vocab_size": 50257
}""",
    "Llama 3 8B": """{
  "architectures": ["LlamaForCausalLM"],
  "attention_bias": false,
  "bos_token_id": 128000,
  "eos_token_id": 128001,
  "hidden_act": "silu",
  "hidden_size": 4096,
  "initializer_range": 0.02,
  "intermediate_size": 14336,
  "max_position_embeddings": 8192,
  "model_type": "llama",
  "num_attention_heads": 32,
  "num_hidden_layers": 32,
  "num_key_value_heads": 8,
  "rms_norm_eps": 1e-05,
  "rope_theta": 500000.0,
  "tie_word_embeddings": false,
  "torch_dtype": "bfloat16",
  "vocab_size": 128256
}""",
    "Mixtral 8x7B": """{
  "architectures": ["MixtralForCausalLM"],
  "hidden_act": "silu",
  "hidden_size": 4096,
  "initializer_range": 0.02,
  "intermediate_size": 14336,
  "max_position_embeddings": 32768,
  "model_type": "mixtral",
  "num_attention_heads": 32,
  "num_experts_per_tok": 2,
  "num_hidden_layers": 32,
  "num_key_value_heads": 8,
  "num_local_experts": 8,
  "output_router_logits": false,
  "rms_norm_eps": 1e-05,
  "rope_theta": 1000000.0,
  "router_aux_loss_coef": 0.02,
  "sliding_window": null,
  "tie_word_embeddings": false,
  "torch_dtype": "bfloat16",
  "vocab_size": 32000
}""",
}  # the fields of the published files that name sizes and choices, and some of the others
