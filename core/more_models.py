"""A few published models more, of which pages show cache and weights, and the longest text that each model was made for."""

from core.published_config import PublishedConfig
from core.published_models import ALL, MODELS, gpt2, llama

MORE = {config.name: config for config in (
    gpt2("gpt2-xl", 1600, 48, 25),
    PublishedConfig("opt-13b", "decoder", 50272, 5120, 40, 40, 20480, 2050, activation="relu", biases=ALL,
                    note="Its table of positions has 2,050 rows for 2,048 tokens."),
    llama("qwen2.5-72b", 152064, 8192, 80, 64, 8, 29568, biases=("qkv",)),
    llama("qwen3-32b", 151936, 5120, 64, 64, 8, 25600, d_head=128, qk_norm=True,
          note="A head is 128 wide; 5,120 / 64 would be 80."),
)}

KNOWN = MODELS | MORE

# The longest text that the makers name: config.json (max_position_embeddings) or the model's report.
CONTEXTS = {
    "gpt2": 1024, "gpt2-medium": 1024, "gpt2-large": 1024, "gpt2-xl": 1024, "gpt3-175b": 2048, "opt-13b": 2048, "bert-base-uncased": 512,
    "bert-large-uncased": 512, "t5-small": 512, "llama-2-7b": 4096, "llama-2-70b": 4096, "llama-3-8b": 8192, "llama-3.1-405b": 131072,
    "llama-3.2-1b": 131072, "mistral-7b-v0.1": 8192, "tinyllama-1.1b": 2048, "gemma-2b": 8192, "gemma-7b": 8192, "gemma-2-2b": 8192,
    "gemma-2-9b": 8192, "qwen2-0.5b": 32768, "qwen2.5-72b": 131072, "qwen3-0.6b": 32768, "qwen3-32b": 131072, "smollm2-135m": 8192,
    "mixtral-8x7b": 32768, "phi-2": 2048, "pythia-160m": 2048, "pythia-6.9b": 2048, "deepseek-v3": 131072,
}

# Models whose attention looks back over a window in some or all layers; a cache may drop what no layer looks at any more.
WINDOWS = {"mistral-7b-v0.1": "every layer looks back over 4,096 tokens at most",
           "gemma-2-2b": "every second layer looks back over 4,096 tokens at most",
           "gemma-2-9b": "every second layer looks back over 4,096 tokens at most"}
