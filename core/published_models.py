"""Published models by name, with the sizes that their parameter counts follow from. `core.accounting` counts them."""

from core.config import CHOICES, ModelConfig
from core.hugging_face import from_hugging_face
from core.published_config import Experts, Latent, PublishedConfig

__all__ = ["MODELS", "Experts", "Latent", "PublishedConfig", "from_hugging_face", "runnable"]

ALL = ("qkv", "o", "ff", "norm")


def gpt2(name, d_model, n_layers, n_heads, n_ctx=1024, note=""):
    """The GPT-2 family: biases everywhere, learned positions, one table for input and output.

    returns  PublishedConfig
    source   Radford et al. 2019, table 2, and the released code; Brown et al. 2020, table 2.1 (GPT-3)
    """
    return PublishedConfig(name, "decoder", 50257, d_model, n_layers, n_heads, 4 * d_model, n_ctx, activation="gelu_tanh", biases=ALL,
                           note=note)


def bert(name, d_model, n_layers, n_heads, note):
    """The BERT family: an encoder with two segments, a norm after the embeddings, and a pooler; the count has no output table.

    returns  PublishedConfig
    source   Devlin et al. 2019, section 3
    """
    return PublishedConfig(name, "encoder", 30522, d_model, n_layers, n_heads, 4 * d_model, 512, norm_position="post", biases=ALL,
                           embedding_norm=True, n_token_types=2, pooler=True, head=False, note=note)


def llama(name, vocab_size, d_model, n_layers, n_heads, n_kv_heads, d_ff, **more):
    """The Llama family and its kin: RMS norms, rotary positions, a gate, no biases, an output table of its own unless tied.

    returns  PublishedConfig
    source   Touvron et al. 2023, "LLaMA", section 2.2; Ainslie et al. 2023, "GQA" (shared keys and values)
    """
    choices = {"n_kv_heads": n_kv_heads, "activation": "swiglu", "norm": "rms", "positions": "rotary", "tied": False}
    return PublishedConfig(name, "decoder", vocab_size, d_model, n_layers, n_heads, d_ff, **(choices | more))


def gemma(name, d_model, n_layers, n_heads, n_kv_heads, d_ff, **more):
    """The Gemma family: like Llama, with wide heads of 256, a GELU gate and one table.

    returns  PublishedConfig
    source   Gemma Team 2024, "Gemma", table 1; "Gemma 2", table 1
    """
    return llama(name, 256000, d_model, n_layers, n_heads, n_kv_heads, d_ff, d_head=256, activation="geglu", tied=True, **more)


def neox(name, vocab_size, d_model, n_layers, n_heads, note=""):
    """The Pythia family: attention and feed-forward side by side, each with its norm; rotary positions on a quarter of a head.

    returns  PublishedConfig
    source   Biderman et al. 2023, "Pythia", section 2.1
    """
    return PublishedConfig(name, "decoder", vocab_size, d_model, n_layers, n_heads, 4 * d_model, positions="rotary", tied=False, biases=ALL,
                           parallel=True, note=note)


MODELS = {config.name: config for config in (
    gpt2("gpt2", 768, 12, 12, note='The release called it "117M"; its arrays hold 124,439,808 numbers.'),
    gpt2("gpt2-medium", 1024, 24, 16, note='The release called it "345M"; its arrays hold 354,823,168 numbers.'),
    gpt2("gpt2-large", 1280, 36, 20),
    gpt2("gpt3-175b", 12288, 96, 96, 2048, "The paper prints 174,600 million, to four digits; these sizes give 174,604,259,328, which "
         "rounds to it."),
    bert("bert-base-uncased", 768, 12, 12, 'Called "110M". Counted with the pooler and without the output layer for masked words.'),
    bert("bert-large-uncased", 1024, 24, 16, 'The paper says 340M. Counted with the pooler and without the output layer for masked words.'),
    PublishedConfig("t5-small", "encoder-decoder", 32128, 512, 6, 8, 2048, n_decoder_layers=6, activation="relu", norm="rms",
                    positions="relative", n_buckets=32),
    PublishedConfig("transformer-base-2017", "encoder-decoder", 37000, 512, 6, 8, 2048, n_decoder_layers=6, activation="relu",
                    norm_position="post", positions="sinusoidal", biases=ALL,
                    note="The paper prints 65 million and a vocabulary of about 37,000. 37,000 rows give 63.1 million; the exact "
                         "vocabulary and the biases of attention are not in the paper, so its figure can't be reproduced exactly."),
    llama("llama-2-7b", 32000, 4096, 32, 32, 32, 11008,
          note="The released file holds 2,048 numbers more: rotary frequencies, which are not parameters."),
    llama("llama-2-70b", 32000, 8192, 80, 64, 8, 28672,
          note="The released file holds 5,120 numbers more: rotary frequencies, which are not parameters."),
    llama("llama-3-8b", 128256, 4096, 32, 32, 8, 14336),
    llama("llama-3.1-405b", 128256, 16384, 126, 128, 8, 53248),
    llama("llama-3.2-1b", 128256, 2048, 16, 32, 8, 8192, tied=True),
    llama("mistral-7b-v0.1", 32000, 4096, 32, 32, 8, 14336),
    llama("tinyllama-1.1b", 32000, 2048, 22, 32, 4, 5632),
    gemma("gemma-2b", 2048, 18, 8, 1, 16384,
          note="Called 2B. The report counts a vocabulary of 256,128 rows, the released weights have 256,000, counted here."),
    gemma("gemma-7b", 3072, 28, 16, 16, 24576,
          note="Called 7B. The report counts a vocabulary of 256,128 rows, the released weights have 256,000, counted here."),
    gemma("gemma-2-2b", 2304, 26, 8, 4, 9216, norms_per_block=4),
    gemma("gemma-2-9b", 3584, 42, 16, 8, 14336, norms_per_block=4),
    llama("qwen2-0.5b", 151936, 896, 24, 14, 2, 4864, tied=True, biases=("qkv",)),
    llama("qwen3-0.6b", 151936, 1024, 28, 16, 8, 3072, d_head=128, tied=True, qk_norm=True,
          note="Queries and keys are normed in each head, with a gain of 128 numbers each."),
    llama("smollm2-135m", 49152, 576, 30, 9, 3, 1536, tied=True),
    llama("mixtral-8x7b", 32000, 4096, 32, 32, 8, 14336, experts=Experts(8, 2, 14336),
          note="Not 8 · 7 billion: the experts share attention, norms and tables. One token uses 12,879,925,248 numbers with the routers "
               "and 12,878,876,672 without them."),
    PublishedConfig("phi-2", "decoder", 51200, 2560, 32, 32, 10240, activation="gelu_tanh", norms_per_block=1, positions="rotary",
                    tied=False, biases=(*ALL, "unembed"), parallel=True),
    neox("pythia-160m", 50304, 768, 12, 12),
    neox("pythia-6.9b", 50432, 4096, 32, 32, "The vocabulary is filled up to 50,432 rows here, not to 50,304."),
    llama("deepseek-v3", 129280, 7168, 61, 128, 128, 18432, latent=Latent(512, 128, 64, 128, 1536),
          experts=Experts(256, 8, 2048, 1, 3, router_bias=True),
          note="Counted without the module that predicts two tokens at once. Published as 37B active, or 36.7B; 37,552,297,472 with the "
               "input table and the router's 14,848 biases, 36,625,618,432 without the input table."),
)}


def runnable(config, n_ctx=None):
    """The ModelConfig with the same arrays, where `core.transformer` can run it.

    Taken over are arrays and shapes. The base of rotary positions and the eps of norms are core's own.

    config   PublishedConfig
    n_ctx    how many tokens to read; config.n_ctx unless given
    returns  ModelConfig
    raises   ValueError that names what core can't run

    >>> runnable(MODELS["gpt2"]).n_ctx
    1024
    """
    c = config
    offsets = {"norm"} if c.norm == "layer" else set()
    biases = set(c.biases) - ({"norm"} - offsets)
    hindrances = {
        f"it is an {c.kind}": c.kind != "decoder", "it has experts": c.experts, "it has latent attention": c.latent,
        "attention and feed-forward stand side by side": c.parallel, "queries and keys are normed": c.qk_norm,
        f"it has {c.norms_per_block} norms a block": c.norms_per_block != 2, "it has a norm after the embeddings": c.embedding_norm,
        "it has token types": c.n_token_types, "it has a pooler": c.pooler, "it has no output": not c.head,
        f"its positions are {c.positions}": c.positions not in CHOICES["positions"],
        f"its activation is {c.activation}": c.activation not in CHOICES["activation"],
        f"it has biases in some places alone ({', '.join(c.biases)})": biases not in (set(), {"qkv", "o", "ff"} | offsets)}
    if found := [what for what, there in hindrances.items() if there]:
        raise ValueError(f"core can't run {c.name}: {'; '.join(found)}. It can still be counted.")
    if n_ctx is None and c.n_ctx is None:
        raise ValueError(f"How many tokens {c.name} reads at most is not in its config; give n_ctx.")
    if c.positions == "learned" and n_ctx not in (None, c.n_ctx):
        raise ValueError(f"{c.name} has a table of {c.n_ctx} learned positions; n_ctx must stay {c.n_ctx}, not {n_ctx}.")
    return ModelConfig(c.vocab_size, c.n_ctx if n_ctx is None else n_ctx, c.d_model, c.n_layers, c.n_heads, c.d_ff, c.n_kv_heads, c.d_head,
                       c.activation, c.norm, c.norm_position, c.positions, c.tied, bool(biases))
