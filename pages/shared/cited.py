"""What each page cites; the pages show it at their foot, the glossary under each source."""

CITED = {
    "why-attention": (
        "Vaswani et al. 2017, section 4 and table 1", "Bengio, Simard & Frasconi 1994", "Elman 1990",
        "Hochreiter & Schmidhuber 1997, section 3", "Hochreiter 1991",
    ),
    "tokens": (
        "Vaswani et al. 2017, section 4", "RFC 3629 (UTF-8), section 3", "Radford et al. 2019, section 2.2",
        "Sennrich, Haddow & Birch 2016, section 3.2", "Unicode Technical Standard 51, definition ED-16 (joined emoji)",
    ),
    "embeddings": (
        "Vaswani et al. 2017, section 3.4", "Jolliffe 2002, section 3.5", "Press & Wolf 2017",
    ),
    "positions": (
        "Vaswani et al. 2017, section 3.2.1", "Vaswani et al. 2017, section 3.5",
        "Press, Smith & Lewis 2021, section 3, and its released code", "Radford et al. 2019, section 2.3", "Su et al. 2021, section 3.4.2",
    ),
    "queries-keys-values": (
        "Vaswani et al. 2017, section 3.2",
    ),
    "attention": (
        "Vaswani et al. 2017, section 3.2.1", "Jain & Wallace 2019", "Wiegreffe & Pinter 2019",
    ),
    "scaling": (
        "Vaswani et al. 2017, section 3.2.1, footnote 4", "Goodfellow et al. 2016, sections 4.1 and 6.2.2.3",
    ),
    "causal-mask": (
        "Vaswani et al. 2017, section 3.2.3",
    ),
    "many-heads": (
        "Vaswani et al. 2017, section 3.2.2", "Elhage et al. 2021, section on attention heads as additive",
    ),
    "normalisation": (
        "Vaswani et al. 2017, section 3.1", "Ba, Kiros & Hinton 2016, section 3", "Ioffe & Szegedy 2015, algorithm 1",
        "Zhang & Sennrich 2019, section 4",
    ),
    "feed-forward": (
        "Vaswani et al. 2017, section 3.3",
        ("GELU in code: google-research/bert, modeling.py, 2018-10-31 and 2019-02-07; openai/gpt-2, src/model.py; "
         "huggingface/transformers, activations.py"),
        "Hendrycks & Gimpel 2016, section 2", "Ramachandran et al. 2017", "Shazeer 2020",
    ),
    "block": (
        "Vaswani et al. 2017, section 3.1 and figure 1", "Elhage et al. 2021", "He et al. 2015", "Radford et al. 2019, section 2.3",
        "Xiong et al. 2020", "tensor2tensor, common_hparams.py (the published model and the later setting)",
    ),
    "encoder-decoder": (
        "Vaswani et al. 2017, sections 3.1 and 3.2.3, figure 1", "Bahdanau et al. 2015 (attention as a soft alignment)",
        "Devlin et al. 2019", "ISO 8601", "Radford et al. 2018", "Raffel et al. 2020",
    ),
    "forward-pass": (
        "Vaswani et al. 2017, section 3", "Karpathy 2023, nanoGPT", "Press & Wolf 2017 (tied table)",
        "Radford et al. 2019, section 2.3 (GPT-2)",
    ),
    "training": (
        "Vaswani et al. 2017, section 5.3", "Kingma & Ba 2015", "Loshchilov & Hutter 2017 (rate)", "Loshchilov & Hutter 2019 (AdamW)",
        "Pascanu, Mikolov & Bengio 2013 (clipping)", "Radford et al. 2019, section 2.3",
    ),
    "generation": (
        "Vaswani et al. 2017, section 3.1 (auto-regressive)", "Fan et al. 2018 (top-k)", "Holtzman et al. 2020 (top-p)",
        "Jiang et al. 2023, Mistral 7B (rolling cache)", "Pope et al. 2022 (KV cache)", "Su et al. 2021 (rotary positions)",
    ),
    "looking-inside": (
        "Vaswani et al. 2017, section 3.2", "Elhage et al. 2021", "Jain & Wallace 2019", "Linzen, Dupoux & Goldberg 2016 (agreement)",
        "Michel, Levy & Neubig 2019 (heads switched off)", "Olsson et al. 2022 (induction heads)", "Wiegreffe & Pinter 2019",
        "nostalgebraist 2020 (logit lens)",
    ),
    "parameters": (
        "Vaswani et al. 2017, section 3 and table 3", "Ainslie et al. 2023 (grouped queries)", "Ben Allal et al. 2025 (SmolLM2)",
        "Biderman et al. 2023 (Pythia)", "Brown et al. 2020, tables 2.1 and D.1 (GPT-3)", "DeepSeek-AI 2024 (DeepSeek-V3)",
        "DeepSeek-V3 weights (36.7B for one token)", "Devlin et al. 2019, section 3 (BERT)", "Gemma 2 (Gemma Team 2024), table 1",
        "Gemma Team 2024, table 1", "GPTQModel (a test that counts the weights)", "Grattafiori et al. 2024 (Llama 3)",
        "Hugging Face (numbers of parameters)", "Jiang et al. 2023 (Mistral 7B)", "Jiang et al. 2024 (Mixtral)",
        "Kaplan et al. 2020, section 2.1 (12 · d² for each block)", "keras-hub (numbers of parameters)",
        "Llama 2 (Touvron et al. 2023)", "Llama 3.2 (model card)", "LLM-Pruner (number of parameters)", "Phi-2 (model card)",
        "Press & Wolf 2017 (one table for input and output)", "Pythia (model cards)", "Radford et al. 2019, section 2.3 and table 2",
        "Raffel et al. 2020 (T5)", "Shazeer 2019 (multi-query)", "Shazeer 2020 (gated feed-forward layers)",
        "TensorCAD (number of parameters)", "Yang et al. 2024 (Qwen2)", "Yang et al. 2025 (Qwen3)", "Zhang et al. 2024 (TinyLlama)",
        "Zhang et al. 2025, tables 5 and 6 (LoRAM)",
    ),
    "memory-and-compute": (
        "Vaswani et al. 2017, section 4 and table 1", "Ainslie et al. 2023 (grouped-query attention)",
        "Dao et al. 2022, section 3.1 (FlashAttention)", "DeepSeek-AI 2024, DeepSeek-V2 (latent attention)",
        "Kaplan et al. 2020, section 2.1 (2 N and 6 N)", "Micikevicius et al. 2018, section 3.1 (mixed precision)",
        "Milakov & Gimelshein 2018 (running softmax)", "Pope et al. 2022 (cost of inference)", "Rabe & Staats 2021",
        "Rajbhandari et al. 2020, ZeRO, section 3.1 (16 bytes a parameter)", "Shazeer 2019 (multi-query attention)",
        "Williams, Waterman & Patterson 2009 (roofline)",
    ),
    "in-practice": (
        "Vaswani et al. 2017, section 3.1 (the encoder)", "Chow 1970 (answering only when sure)", "Jain & Wallace 2019",
        "Liu et al. 2024 (where the important part stands)", "OWASP 2025 (prompt injection, leakage)", "Wiegreffe & Pinter 2019",
        "Yang et al. 2016 (pooling by a learned query)",
    ),
    "misconceptions": (
        "Vaswani et al. 2017, section 3.2", "Jain & Wallace 2019, section 4", "Liu et al. 2024 (long contexts)",
        "Sennrich, Haddow & Birch 2016, section 3.2", "Wiegreffe & Pinter 2019",
    ),
    "quiz": (
        "Vaswani et al. 2017, section 3 and table 1", "Roediger & Karpicke 2006, “Test-Enhanced Learning”, experiment 1",
    ),
}
