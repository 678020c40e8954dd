"""What was published about the numbers of the models in `published_models`: the figure, and where it stands."""

from typing import NamedTuple

KERAS = "keras-hub, {}_presets.py (the field params)"
FILES = "Hugging Face, {}, the number of parameters in its files; {}"
CARDS = "Pythia, the model cards of EleutherAI on Hugging Face (total params)"


class Figure(NamedTuple):
    """A published number of parameters."""

    total: int
    source: str       # where it stands, or what it is the sum of
    active: int | None = None   # that one token uses, where experts share the work
    within: int = 0   # how far our count may be from it, where it was printed rounded

    def rounds_to(self, count):
        """Is the figure this count, rounded to the digits that were printed?

        >>> Figure(65_000_000, "").rounds_to(65_400_000), Figure(65_000_000, "").rounds_to(63_082_496)
        (True, False)
        """
        printed = str(self.total).rstrip("0")
        return 2 * abs(self.total - count) <= 10 ** (len(str(self.total)) - len(printed))


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
    "llama-2-70b": Figure(68976648192, "Zhang et al. 2025, tables 5 and 6 (LoRAM), which start from these weights"),
    "llama-3-8b": Figure(8030261248, KERAS.format("llama3")),
    "llama-3.1-405b": Figure(405853388800, FILES.format("meta-llama/Llama-3.1-405B", "Grattafiori et al. 2024 print 405B")),
    "llama-3.2-1b": Figure(1235814400, "GPTQModel, tests/test_parameter_count.py at commit fdbd5b6; the model card of "
                           "Llama 3.2 prints 1.23B"),
    "mistral-7b-v0.1": Figure(7241732096, KERAS.format("mistral")),
    "tinyllama-1.1b": Figure(1100048384, "LLM-Pruner, more_results/README.md (#Param before); Zhang et al. 2024 print 1.1B"),
    "gemma-2b": Figure(2506172416, KERAS.format("gemma")),
    "gemma-7b": Figure(8537680896, KERAS.format("gemma")),
    "gemma-2-2b": Figure(2614341888, KERAS.format("gemma")),
    "gemma-2-9b": Figure(9241705984, KERAS.format("gemma")),
    "qwen2-0.5b": Figure(494032768, "keras-hub, qwen_presets.py (the field params of qwen2.5_0.5b, which has these sizes too)"),
    "qwen3-0.6b": Figure(596049920, KERAS.format("qwen3")),
    "smollm2-135m": Figure(134515008, FILES.format("HuggingFaceTB/SmolLM2-135M", "Ben Allal et al. 2025 call it 135M")),
    "mixtral-8x7b": Figure(46702792704, "Jiang et al. 2024, Mixtral of Experts (47B, 13B active); to the digit in "
                           + KERAS.format("mixtral"), 12879925248),
    "phi-2": Figure(2779683840, FILES.format("microsoft/phi-2", "the model card of Phi-2 prints 2.7 billion")),
    "pythia-160m": Figure(162322944, CARDS),
    "pythia-6.9b": Figure(6857302016, CARDS),
    "deepseek-v3": Figure(671026419200, "DeepSeek-AI 2024, DeepSeek-V3 (671B, 37B active); to the digit in the README of TensorCAD, which "
                          "builds the model in PyTorch", 37552297472),
}
