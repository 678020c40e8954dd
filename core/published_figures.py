"""What was published about the numbers of the models in `published_models`: the figure, and where it stands."""

from typing import NamedTuple

KERAS = "keras-hub, {}_presets.py (the field params)"
QUOTED = "{}; the figure as several public files quote it for the released weights"


class Figure(NamedTuple):
    """A published number of parameters."""

    total: int
    source: str       # where it stands, or what it is the sum of
    active: int | None = None   # that one token uses, where experts share the work
    within: int = 0   # how far our count may be from it, where it was printed rounded


FIGURES = {
    "gpt2": Figure(124439808, KERAS.format("gpt2")),
    "gpt2-medium": Figure(354823168, KERAS.format("gpt2")),
    "gpt2-large": Figure(774030080, KERAS.format("gpt2")),
    "gpt3-175b": Figure(174_600_000_000, "Brown et al. 2020, table D.1 (174,600 million; the sizes stand in table 2.1)", within=50_000_000),
    "bert-base-uncased": Figure(109482240, KERAS.format("bert")),
    "bert-large-uncased": Figure(335141888, KERAS.format("bert")),
    "t5-small": Figure(60506624, "an older version of " + KERAS.format("t5")),
    "transformer-base-2017": Figure(65_000_000, "Vaswani et al. 2017, table 3 (65 million)", within=3_000_000),
    "llama-2-7b": Figure(6738415616, KERAS.format("llama")),
    "llama-2-70b": Figure(68976648192, QUOTED.format("Touvron et al. 2023, Llama 2")),
    "llama-3-8b": Figure(8030261248, KERAS.format("llama3")),
    "llama-3.1-405b": Figure(405853388800, QUOTED.format("Grattafiori et al. 2024, The Llama 3 Herd of Models")),
    "llama-3.2-1b": Figure(1235814400, QUOTED.format("Llama 3.2 1B, model card")),
    "mistral-7b-v0.1": Figure(7241732096, KERAS.format("mistral")),
    "tinyllama-1.1b": Figure(1100048384, QUOTED.format("Zhang et al. 2024, TinyLlama")),
    "gemma-2b": Figure(2506172416, KERAS.format("gemma")),
    "gemma-7b": Figure(8537680896, KERAS.format("gemma")),
    "gemma-2-2b": Figure(2614341888, KERAS.format("gemma")),
    "gemma-2-9b": Figure(9241705984, KERAS.format("gemma")),
    "qwen2-0.5b": Figure(494032768, KERAS.format("qwen")),
    "qwen3-0.6b": Figure(596049920, QUOTED.format("Yang et al. 2025, Qwen3")),
    "smollm2-135m": Figure(134515008, QUOTED.format("Ben Allal et al. 2025, SmolLM2")),
    "mixtral-8x7b": Figure(46702792704, "Jiang et al. 2024, Mixtral of Experts (47B, 13B active); to the digit in "
                           + KERAS.format("mixtral"), 12879925248),
    "phi-2": Figure(2779683840, QUOTED.format("Phi-2, model card (2.7B)")),
    "pythia-160m": Figure(162322944, "Biderman et al. 2023, Pythia, and its model cards"),
    "pythia-6.9b": Figure(6857302016, "Biderman et al. 2023, Pythia, and its model cards"),
    "deepseek-v3": Figure(671026419200, "DeepSeek-AI 2024, DeepSeek-V3 (671B, 37B active); to the digit as public files quote it",
                          37552297472),
}
