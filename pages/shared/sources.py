"""The sources of the course: what pages cite in short, in full and with where to read it."""

from functools import cache
from typing import NamedTuple

from pages.shared.cited import CITED


class Source(NamedTuple):
    """A work that pages cite."""

    cite: str    # how pages cite it; a section may follow
    title: str
    where: str   # journal, conference or site, and number
    link: str    # an address that stays, without https://


ARXIV = "arxiv.org/abs/"


def paper(cite, title, number, where=""):
    """A paper that is on arXiv.

    >>> paper("Vaswani et al. 2017", "Attention Is All You Need", "1706.03762").link
    'arxiv.org/abs/1706.03762'
    """
    return Source(cite, title, f"{where}; arXiv {number}".removeprefix("; "), ARXIV + number)


SOURCES = (
    paper("Vaswani et al. 2017", "Attention Is All You Need", "1706.03762", "NIPS 2017"),
    paper("Ainslie et al. 2023", "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints", "2305.13245",
          "EMNLP 2023"),
    Source("Alammar 2018", "The Illustrated Transformer", "blog post", "jalammar.github.io/illustrated-transformer/"),
    paper("Ba, Kiros & Hinton 2016", "Layer Normalization", "1607.06450"),
    paper("Bahdanau et al. 2015", "Neural Machine Translation by Jointly Learning to Align and Translate", "1409.0473", "ICLR 2015"),
    paper("Ben Allal et al. 2025", "SmolLM2: When Smol Goes Big – Data-Centric Training of a Small Language Model", "2502.02737"),
    Source("Bengio, Simard & Frasconi 1994", "Learning Long-Term Dependencies with Gradient Descent is Difficult",
           "IEEE Transactions on Neural Networks 5(2)", "doi.org/10.1109/72.279181"),
    paper("Biderman et al. 2023", "Pythia: A Suite for Analyzing Large Language Models Across Training and Scaling", "2304.01373",
          "ICML 2023"),
    paper("Brown et al. 2020", "Language Models are Few-Shot Learners", "2005.14165", "NeurIPS 2020"),
    Source("Chow 1970", "On Optimum Recognition Error and Reject Tradeoff", "IEEE Transactions on Information Theory 16(1)",
           "doi.org/10.1109/TIT.1970.1054406"),
    paper("Dao et al. 2022", "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", "2205.14135", "NeurIPS 2022"),
    paper("DeepSeek-AI 2024", "DeepSeek-V2 (number 2405.04434) and DeepSeek-V3 Technical Report", "2412.19437"),
    Source("DeepSeek-V3 weights", "README_WEIGHTS.md of DeepSeek-V3", "GitHub",
           "github.com/deepseek-ai/DeepSeek-V3/blob/main/README_WEIGHTS.md"),
    paper("Devlin et al. 2019", "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", "1810.04805",
          "NAACL 2019"),
    Source("Elhage et al. 2021", "A Mathematical Framework for Transformer Circuits", "Transformer Circuits Thread",
           "transformer-circuits.pub/2021/framework/"),
    Source("Elman 1990", "Finding Structure in Time", "Cognitive Science 14(2)", "doi.org/10.1207/s15516709cog1402_1"),
    paper("Fan et al. 2018", "Hierarchical Neural Story Generation", "1805.04833", "ACL 2018"),
    Source("GELU in code", "google-research/bert, modeling.py; openai/gpt-2, src/model.py; huggingface/transformers, activations.py",
           "GitHub", "github.com/openai/gpt-2/blob/master/src/model.py"),
    paper("Gemma 2 (Gemma Team 2024)", "Gemma 2: Improving Open Language Models at a Practical Size", "2408.00118"),
    paper("Gemma Team 2024", "Gemma: Open Models Based on Gemini Research and Technology", "2403.08295"),
    Source("Goodfellow et al. 2016", "Deep Learning", "MIT Press", "www.deeplearningbook.org"),
    Source("GPTQModel", "GPTQModel, tests/test_parameter_count.py at commit fdbd5b6", "GitHub", "github.com/ModelCloud/GPTQModel"),
    paper("Grattafiori et al. 2024", "The Llama 3 Herd of Models", "2407.21783"),
    paper("He et al. 2015", "Deep Residual Learning for Image Recognition", "1512.03385", "CVPR 2016"),
    paper("Hendrycks & Gimpel 2016", "Gaussian Error Linear Units (GELUs)", "1606.08415"),
    Source("Hochreiter 1991", "Untersuchungen zu dynamischen neuronalen Netzen", "diploma thesis, Technische Universität München",
           "people.idsia.ch/~juergen/SeppHochreiter1991ThesisAdvisorSchmidhuber.pdf"),
    Source("Hochreiter & Schmidhuber 1997", "Long Short-Term Memory", "Neural Computation 9(8)", "doi.org/10.1162/neco.1997.9.8.1735"),
    paper("Holtzman et al. 2020", "The Curious Case of Neural Text Degeneration", "1904.09751", "ICLR 2020"),
    Source("Hugging Face", "Pages of released models, with the number of parameters in their files", "site", "huggingface.co/models"),
    paper("Ioffe & Szegedy 2015", "Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift",
          "1502.03167", "ICML 2015"),
    Source("ISO 8601", "Date and time: representations for information interchange", "ISO 8601-1:2019", "www.iso.org/standard/70907.html"),
    paper("Jain & Wallace 2019", "Attention is not Explanation", "1902.10186", "NAACL 2019"),
    paper("Jiang et al. 2023", "Mistral 7B", "2310.06825"),
    paper("Jiang et al. 2024", "Mixtral of Experts", "2401.04088"),
    Source("Jolliffe 2002", "Principal Component Analysis, second edition", "Springer", "doi.org/10.1007/b98835"),
    paper("Kaplan et al. 2020", "Scaling Laws for Neural Language Models", "2001.08361"),
    Source("Karpathy 2023", "nanoGPT, and the lecture Let's build GPT", "GitHub and video", "github.com/karpathy/nanoGPT"),
    Source("keras-hub", "Presets of each model, keras_hub/src/models, with the field params", "GitHub", "github.com/keras-team/keras-hub"),
    paper("Kingma & Ba 2015", "Adam: A Method for Stochastic Optimization", "1412.6980", "ICLR 2015"),
    Source("LeCun et al. 1998", "Efficient BackProp", "Neural Networks: Tricks of the Trade, Springer", "doi.org/10.1007/3-540-49430-8_2"),
    paper("Lin et al. 2017", "A Structured Self-attentive Sentence Embedding", "1703.03130", "ICLR 2017"),
    paper("Linzen, Dupoux & Goldberg 2016", "Assessing the Ability of LSTMs to Learn Syntax-Sensitive Dependencies", "1611.01368",
          "TACL 4"),
    paper("Liu et al. 2024", "Lost in the Middle: How Language Models Use Long Contexts", "2307.03172", "TACL 12"),
    paper("Llama 2 (Touvron et al. 2023)", "Llama 2: Open Foundation and Fine-Tuned Chat Models", "2307.09288"),
    Source("Llama 3.2", "Llama 3.2 1B, model card", "Meta, on Hugging Face", "huggingface.co/meta-llama/Llama-3.2-1B"),
    Source("LLM-Pruner", "LLM-Pruner, more_results/README.md", "GitHub", "github.com/horseee/LLM-Pruner"),
    paper("Loshchilov & Hutter 2017", "SGDR: Stochastic Gradient Descent with Warm Restarts", "1608.03983", "ICLR 2017"),
    paper("Loshchilov & Hutter 2019", "Decoupled Weight Decay Regularization", "1711.05101", "ICLR 2019"),
    paper("Michel, Levy & Neubig 2019", "Are Sixteen Heads Really Better than One?", "1905.10650", "NeurIPS 2019"),
    paper("Micikevicius et al. 2018", "Mixed Precision Training", "1710.03740", "ICLR 2018"),
    paper("Milakov & Gimelshein 2018", "Online normalizer calculation for softmax", "1805.02867"),
    Source("Nair & Hinton 2010", "Rectified Linear Units Improve Restricted Boltzmann Machines", "ICML 2010",
           "icml.cc/Conferences/2010/papers/432.pdf"),
    Source("nostalgebraist 2020", "interpreting GPT: the logit lens", "LessWrong",
           "www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens"),
    paper("Olsson et al. 2022", "In-context Learning and Induction Heads", "2209.11895", "Transformer Circuits Thread"),
    paper("Pascanu, Mikolov & Bengio 2013", "On the difficulty of training Recurrent Neural Networks", "1211.5063", "ICML 2013"),
    Source("Phi-2", "Phi-2, model card", "Microsoft, on Hugging Face", "huggingface.co/microsoft/phi-2"),
    paper("Pope et al. 2022", "Efficiently Scaling Transformer Inference", "2211.05102", "MLSys 2023"),
    paper("Press & Wolf 2017", "Using the Output Embedding to Improve Language Models", "1608.05859", "EACL 2017"),
    paper("Press, Smith & Lewis 2021", "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
          "2108.12409", "ICLR 2022"),
    Source("OWASP 2025", "Top 10 for Large Language Model Applications", "OWASP Foundation", "genai.owasp.org/llm-top-10/"),
    Source("Pythia", "Pythia, model cards with a table of all parameters", "EleutherAI, on Hugging Face",
           "huggingface.co/EleutherAI/pythia-160m"),
    paper("Rabe & Staats 2021", "Self-attention Does Not Need O(n²) Memory", "2112.05682"),
    Source("Radford et al. 2018", "Improving Language Understanding by Generative Pre-Training", "OpenAI",
           "cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf"),
    Source("Radford et al. 2019", "Language Models are Unsupervised Multitask Learners", "OpenAI (GPT-2)",
           "cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf"),
    paper("Raffel et al. 2020", "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", "1910.10683",
          "JMLR 21 (T5)"),
    paper("Rajbhandari et al. 2020", "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", "1910.02054", "SC 2020"),
    paper("Ramachandran et al. 2017", "Searching for Activation Functions", "1710.05941"),
    Source("RFC 3629", "UTF-8, a transformation format of ISO 10646", "IETF, 2003", "www.rfc-editor.org/rfc/rfc3629"),
    Source("Roediger & Karpicke 2006", "Test-Enhanced Learning: Taking Memory Tests Improves Long-Term Retention",
           "Psychological Science 17(3)", "doi.org/10.1111/j.1467-9280.2006.01693.x"),
    paper("Sennrich, Haddow & Birch 2016", "Neural Machine Translation of Rare Words with Subword Units", "1508.07909", "ACL 2016"),
    paper("Shazeer 2019", "Fast Transformer Decoding: One Write-Head is All You Need", "1911.02150"),
    paper("Shazeer 2020", "GLU Variants Improve Transformer", "2002.05202"),
    paper("Su et al. 2021", "RoFormer: Enhanced Transformer with Rotary Position Embedding", "2104.09864"),
    Source("tensor2tensor", "The 2017 authors' code: common_hparams.py, transformer.py", "GitHub", "github.com/tensorflow/tensor2tensor"),
    Source("TensorCAD", "TensorCAD, README: ready models, built in PyTorch and counted", "GitHub", "github.com/Filip-Pajalic/TensorCAD"),
    paper("Touvron et al. 2023", "LLaMA: Open and Efficient Foundation Language Models", "2302.13971"),
    Source("Unicode Technical Standard 51", "Unicode Emoji", "Unicode Consortium", "www.unicode.org/reports/tr51/"),
    Source("Werbos 1990", "Backpropagation Through Time: What It Does and How to Do It", "Proceedings of the IEEE 78(10)",
           "doi.org/10.1109/5.58337"),
    paper("Wiegreffe & Pinter 2019", "Attention is not not Explanation", "1908.04626", "EMNLP 2019"),
    Source("Williams, Waterman & Patterson 2009", "Roofline: An Insightful Visual Performance Model for Multicore Architectures",
           "Communications of the ACM 52(4)", "doi.org/10.1145/1498765.1498785"),
    paper("Xiong et al. 2020", "On Layer Normalization in the Transformer Architecture", "2002.04745", "ICML 2020"),
    Source("Yang et al. 2016", "Hierarchical Attention Networks for Document Classification", "NAACL 2016", "aclanthology.org/N16-1174/"),
    paper("Yang et al. 2024", "Qwen2 Technical Report", "2407.10671"),
    paper("Yang et al. 2025", "Qwen3 Technical Report", "2505.09388"),
    paper("Zhang & Sennrich 2019", "Root Mean Square Layer Normalization", "1910.07467", "NeurIPS 2019"),
    paper("Zhang et al. 2024", "TinyLlama: An Open-Source Small Language Model", "2401.02385"),
    paper("Zhang et al. 2025", "Train Small, Infer Large: Memory-Efficient LoRA Training for Large Language Models", "2502.13533",
          "ICLR 2025"),
)


@cache
def cited(text):
    """The source that a citation on a page names; None where there is none.

    >>> cited("Vaswani et al. 2017, section 3.2.1").title
    'Attention Is All You Need'
    """
    return next((source for source in SOURCES if text.startswith(source.cite)), None)


@cache
def cited_on(source):
    """Where a source is cited: [(the page's address, the section or what it is cited for)].

    >>> cited_on(cited("Jain & Wallace 2019"))[0]
    ('attention', '')
    """
    return [(url, citation.removeprefix(source.cite).lstrip(",: ")) for url, citations in CITED.items() for citation in citations
            if cited(citation) is source]
