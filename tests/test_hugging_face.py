"""config.json files: the fields that the published files give lead to the published counts; what is missing or strange is said."""

import dataclasses

import pytest

from core.accounting import count_parameters, kv_cache_bytes_per_token
from core.published_models import MODELS, from_hugging_face


def llama(model_type, name, **more):
    """The fields of a Llama-like file with the sizes of one of our rows."""
    c = MODELS[name]
    return {"model_type": model_type, "vocab_size": c.vocab_size, "hidden_size": c.d_model, "num_hidden_layers": c.n_layers,
            "num_attention_heads": c.n_heads, "num_key_value_heads": c.n_kv_heads, "intermediate_size": c.d_ff, "hidden_act": "silu",
            "max_position_embeddings": 4096, "rms_norm_eps": 1e-6, "torch_dtype": "bfloat16", "tie_word_embeddings": c.tied} | more


FILES = {
    "gpt2": {"model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_ctx": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12,
             "activation_function": "gelu_new", "attn_pdrop": 0.1, "layer_norm_epsilon": 1e-5},
    "bert-base-uncased": {"model_type": "bert", "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12,
                          "num_attention_heads": 12, "intermediate_size": 3072, "hidden_act": "gelu", "max_position_embeddings": 512,
                          "type_vocab_size": 2, "pad_token_id": 0},
    "t5-small": {"model_type": "t5", "vocab_size": 32128, "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6, "num_heads": 8,
                 "relative_attention_num_buckets": 32, "n_positions": 512, "dropout_rate": 0.1},
    "llama-2-7b": llama("llama", "llama-2-7b"), "llama-2-70b": llama("llama", "llama-2-70b", attention_bias=False),
    "llama-3.2-1b": llama("llama", "llama-3.2-1b", head_dim=64), "smollm2-135m": llama("llama", "smollm2-135m", rope_theta=100000),
    "tinyllama-1.1b": llama("llama", "tinyllama-1.1b"), "mistral-7b-v0.1": llama("mistral", "mistral-7b-v0.1", sliding_window=4096),
    "gemma-2b": llama("gemma", "gemma-2b", head_dim=256, hidden_act="gelu"),
    "gemma-7b": llama("gemma", "gemma-7b", head_dim=256, hidden_act="gelu", hidden_activation="gelu_pytorch_tanh"),
    "gemma-2-2b": llama("gemma2", "gemma-2-2b", head_dim=256, hidden_act="gelu_pytorch_tanh", hidden_activation="gelu_pytorch_tanh"),
    "qwen2-0.5b": llama("qwen2", "qwen2-0.5b", use_sliding_window=False), "qwen3-0.6b": llama("qwen3", "qwen3-0.6b", head_dim=128),
    "mixtral-8x7b": llama("mixtral", "mixtral-8x7b", num_local_experts=8, num_experts_per_tok=2),
    "phi-2": llama("phi", "phi-2", hidden_act="gelu_new", partial_rotary_factor=0.4, qk_layernorm=False),
    "pythia-160m": {"model_type": "gpt_neox", "vocab_size": 50304, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
                    "intermediate_size": 3072, "hidden_act": "gelu", "rotary_pct": 0.25, "use_parallel_residual": True,
                    "tie_word_embeddings": False},
    "deepseek-v3": llama("deepseek_v3", "deepseek-v3", q_lora_rank=1536, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64,
                         v_head_dim=128, n_routed_experts=256, n_shared_experts=1, num_experts_per_tok=8, moe_intermediate_size=2048,
                         first_k_dense_replace=3, moe_layer_freq=1, scoring_func="sigmoid"),
}
SIZES = {"gpt2": "n_embd", "t5-small": "d_kv", "llama-2-7b": "intermediate_size", "mistral-7b-v0.1": "num_key_value_heads",
         "gemma-2b": "head_dim", "qwen3-0.6b": "head_dim", "mixtral-8x7b": "num_local_experts", "deepseek-v3": "kv_lora_rank",
         "pythia-160m": "hidden_act", "bert-base-uncased": "type_vocab_size", "phi-2": "vocab_size"}


@pytest.mark.parametrize("name", FILES)
def test_a_file_leads_to_the_counts_of_the_published_model(name):
    read, ours = from_hugging_face(FILES[name]), MODELS[name]
    assert count_parameters(read) == count_parameters(ours)
    assert kv_cache_bytes_per_token(read) == kv_cache_bytes_per_token(ours)
    same = {"kind", "norm_position", "positions", "parallel", "tied", "n_kv_heads"}
    assert {field: getattr(read, field) for field in same} == {field: getattr(ours, field) for field in same}
    assert "Not known" not in read.note


@pytest.mark.parametrize("name, field", SIZES.items())
@pytest.mark.parametrize("missing", ["left out", "null"])
def test_a_missing_size_is_asked_for(name, field, missing):
    file = {key: value for key, value in FILES[name].items() if key != field} | ({field: None} if missing == "null" else {})
    with pytest.raises(ValueError, match=rf'"{field}" is missing from this {FILES[name]["model_type"]} config.json; add it'):
        from_hugging_face(file)


def test_no_narrow_vector_for_queries_is_said_with_null_not_left_out():
    file = FILES["deepseek-v3"]
    assert from_hugging_face(file | {"q_lora_rank": None}).latent.q_rank is None
    with pytest.raises(ValueError, match='"q_lora_rank" is missing'):
        from_hugging_face({key: value for key, value in file.items() if key != "q_lora_rank"})


def test_a_field_that_is_not_known_is_named():
    read = from_hugging_face(FILES["llama-2-7b"] | {"memory_tokens": 7, "extra": None})
    assert "Not known here and not counted: extra, memory_tokens." in read.note
    assert count_parameters(read).total == count_parameters(MODELS["llama-2-7b"]).total


def test_a_default_that_is_taken_is_told():
    without = {key: value for key, value in FILES["llama-2-7b"].items() if key not in ("tie_word_embeddings", "num_key_value_heads")}
    note = from_hugging_face(without).note
    assert "tie_word_embeddings is not given; this format's default is false." in note
    assert "num_key_value_heads is not given; this format's default is 32." in note
    assert "n_inner is not given; this format's default is 3,072." in from_hugging_face(FILES["gpt2"]).note


def test_biases_that_a_file_switches_on_are_counted():
    read = from_hugging_face(FILES["llama-3.2-1b"] | {"attention_bias": True, "mlp_bias": True})
    a_layer = (32 + 2 * 8) * 64 + 2048 + 2 * 8192 + 2048  # q, k, v; o; in and gate; out
    assert count_parameters(read).total - count_parameters(MODELS["llama-3.2-1b"]).total == 16 * a_layer


def test_a_gate_in_t5_is_a_third_matrix():
    read = from_hugging_face(FILES["t5-small"] | {"feed_forward_proj": "gated-gelu"})
    assert count_parameters(read).total - count_parameters(MODELS["t5-small"]).total == 12 * 512 * 2048
    fewer = from_hugging_face(FILES["t5-small"] | {"num_decoder_layers": 5})
    assert fewer.n_decoder_layers == 5 and fewer.n_layers == 6


@pytest.mark.parametrize("name, changed, sentence", [
    ("gpt2", {"model_type": "mamba"}, "\"model_type\" is \"mamba\"; this reader knows gpt2, bert"),
    ("gpt2", {"model_type": None}, "\"model_type\" is missing from this config.json, .* this reader knows gpt2"),
    ("gpt2", {"model_type": ["gpt2"]}, "this reader knows"),
    ("gpt2", {"n_embd": "wide"}, "\"n_embd\" is \"wide\"; it must be a whole number"),
    ("gpt2", {"n_embd": 770}, "can't be cut into 12 equal heads"), ("gpt2", {"add_cross_attention": True}, "cross-attention"),
    ("gpt2", {"activation_function": "tan"}, "\"activation_function\" is \"tan\"; it can be gelu"),
    ("gpt2", {"activation_function": ["gelu"]}, "it can be gelu"), ("gpt2", {"tie_word_embeddings": "no"}, "must be true or false"),
    ("bert-base-uncased", {"position_embedding_type": "relative_key"}, "only absolute positions"),
    ("t5-small", {"feed_forward_proj": "gated-tan"}, "it can be relu, gated-gelu"),
    ("llama-2-7b", {"hidden_act": "relu"}, "for a gate it can be silu or gelu"),
    ("llama-2-7b", {"num_key_value_heads": 5}, r"32 heads \(\"num_attention_heads\"\) can't share 5 key/value heads"),
    ("mistral-7b-v0.1", {"attention_bias": True}, "biases of that kind are not counted"),
    ("phi-2", {"qk_layernorm": True}, "not counted here"), ("deepseek-v3", {"moe_layer_freq": 2}, "only experts in every later layer"),
    ("mixtral-8x7b", {"num_experts_per_tok": 9}, "can't use 9 of 8 experts"),
    ("deepseek-v3", {"first_k_dense_replace": 62}, "62 of the 61 layers")])
def test_what_cannot_be_counted_gets_a_sentence(name, changed, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_hugging_face(FILES[name] | changed)


@pytest.mark.parametrize("file", [None, [], "{}", 3])
def test_only_names_with_values_are_a_file(file):
    with pytest.raises(ValueError, match="names with values"):
        from_hugging_face(file)


def test_the_file_is_left_as_it_was_and_names_the_model():
    file = FILES["gpt2"] | {"_name_or_path": "mine/small"}
    before = dict(file)
    read = from_hugging_face(file)
    assert file == before and read.name == "mine/small" and dataclasses.replace(read) == read
