"""The terms of the course: what each means, what else it is called, and the page that teaches it."""

from typing import NamedTuple


class Term(NamedTuple):
    """A term."""

    name: str
    url: str             # the page that teaches it
    meaning: str         # Markdown by the course
    also: str = ""       # other words for the same thing


TERMS = (
    Term("Ablation", "looking-inside", "Switching a part off, here a head by setting what it writes to 0, to see which answers need it."),
    Term("Accuracy", "looking-inside", "The share of answers that are right, on texts that were not trained on."),
    Term("Activation function", "feed-forward", "A curve that each hidden number is sent through, such as ReLU or GELU. Without it two "
         "linear layers in a row would be one.", "non-linearity, bend"),
    Term("Active parameters", "parameters", "The parameters that one token uses. In a mixture of experts these are fewer than the total."),
    Term("AdamW", "training", "An optimizer: each parameter's step is its mean gradient over the root of its mean squared gradient, both "
         "running means. Weight decay is taken off apart from that."),
    Term("ALiBi", "positions", "Attention with linear biases: every score loses a slope times the distance. Each head has its slope."),
    Term("Arithmetic intensity", "memory-and-compute", "FLOPs done for each byte that is moved from memory."),
    Term("Attention", "attention", "For each query: compare it with every key, turn the scores into weights that sum to 1, and take the "
         "weighted sum of the values.", "scaled dot-product attention"),
    Term("Autoregressive", "generation", "Writing one token at a time, each chosen with all before it as input."),
    Term("Backpropagation", "training", "The chain rule, run from the loss back to each parameter. It gives all gradients in one pass.",
         "backward pass"),
    Term("Batch", "training", "The texts that are trained on in one step."),
    Term("Block", "block", "Attention and a feed-forward layer, each with a norm and a residual connection. A model stacks several.",
         "layer, transformer layer"),
    Term("Byte-pair encoding", "tokens", "A tokenizer that starts from bytes or characters and joins the most frequent neighbouring pair, "
         "again and again.", "BPE"),
    Term("Causal mask", "causal-mask", "The rule that a token may look at itself and at earlier tokens, never at later ones.",
         "autoregressive mask, look-ahead mask, subsequent mask"),
    Term("Context length", "memory-and-compute", "The number of tokens that a model takes at once.",
         "n_ctx, context window, block_size, max_position_embeddings"),
    Term("Cosine similarity", "embeddings", "The dot product of two vectors over the product of their lengths: 1 where they point the "
         "same way, 0 where they stand at right angles."),
    Term("Cross-attention", "encoder-decoder", "Attention whose queries come from the decoder and whose keys and values come from the "
         "encoder.", "encoder–decoder attention"),
    Term("Cross-entropy", "training", "The loss: minus the logarithm of the probability that the model gave to the right token, in nats, "
         "averaged over tokens.", "negative log-likelihood"),
    Term("d_ff", "feed-forward", "The width inside the feed-forward layer, often 4 times d_model."),
    Term("d_head", "many-heads", "The width of one head's queries, keys and values.", "d_k, head_dim, head_size"),
    Term("d_model", "embeddings", "The width of a token's vector and of the residual stream.",
         "n_embd, hidden_size, C, embedding dimension"),
    Term("Decode", "memory-and-compute", "Writing tokens one by one after the prompt was read."),
    Term("Decoder", "encoder-decoder", "A stack with a causal mask, which writes. GPT-2 has nothing else: it is decoder-only."),
    Term("Dropout", "forward-pass", "Setting a random share of numbers to 0 while training, and none when the model is used."),
    Term("Embedding", "embeddings", "The vector of a token: the row of a table that its id names.", "token embedding, w_embed, wte, W_E"),
    Term("Encoder", "encoder-decoder", "A stack without a causal mask: every token sees the whole source. BERT has nothing else."),
    Term("Entropy", "scaling", "How spread out weights are, in nats: 0 where all weight is on one key, ln n where n keys share it evenly."),
    Term("Feed-forward layer", "feed-forward", "Two linear layers with an activation function between them, applied to each token alone.",
         "MLP, position-wise feed-forward network, FFN"),
    Term("Finite difference", "training", "The change of the loss over a small change of one parameter: a check of that parameter's "
         "gradient."),
    Term("FLOP", "memory-and-compute", "One floating-point operation. A multiplication with its addition counts as 2.",
         "FLOPs, multiply-add"),
    Term("Gain and offset", "normalisation", "The learned factor and summand for each feature after a norm.",
         "γ and β, weight and bias, scale and shift"),
    Term("GB and GiB", "memory-and-compute", "10⁹ bytes and 2³⁰ bytes: a GiB is 7.4 % more."),
    Term("GELU", "feed-forward", "An activation function: x times the share of a standard normal distribution below x. GPT-2 uses a "
         "formula with tanh that is close to it."),
    Term("Gradient", "training", "For each parameter, how fast the loss rises as the parameter rises.", "d_name in the code"),
    Term("Gradient clipping", "training", "Making all gradients shorter by one factor when their joint length is above a limit."),
    Term("Greedy decoding", "generation", "Taking the most probable token each time: temperature 0.", "argmax"),
    Term("Grouped-query attention", "parameters", "Several query heads share one key head and one value head. With a single one it is "
         "called multi-query attention.", "GQA, MQA, n_kv_heads"),
    Term("Head", "many-heads", "One of several attentions side by side, with its own queries, keys and values."),
    Term("Held-out texts", "in-practice", "Texts kept away from training, to measure what was learned and not what was memorised.",
         "test set, validation set"),
    Term("Induction head", "looking-inside", "A head that looks at what followed the last time the current token stood in the text."),
    Term("Initialisation", "forward-pass", "How parameters are drawn at random before training."),
    Term("Jacobian", "scaling", "The table of all slopes of outputs to inputs. That of softmax is diag(p) − ppᵀ."),
    Term("KV cache", "generation", "The keys and values of all earlier tokens, kept so that a new token needs only its own.",
         "past_key_values"),
    Term("Layer normalisation", "normalisation", "For each token: subtract the mean of its features and divide by their standard "
         "deviation.", "LayerNorm, ln_1, ln_2"),
    Term("Learned positions", "positions", "A table with one vector a position, trained like the rest. It ends at the longest trained "
         "position.", "w_pos, wpe, absolute position embedding"),
    Term("Learning rate", "training", "The factor of a training step. It may start small (warm-up) and shrink later (a schedule)."),
    Term("Logit", "forward-pass", "The score of a token of the vocabulary before the softmax."),
    Term("Logit lens", "looking-inside", "Reading the stream after each block with the final norm and the output table, as if it were "
         "the last."),
    Term("Loss", "training", "The number that training makes smaller. Here it is the cross-entropy."),
    Term("Mask", "causal-mask", "The table of which query may look at which key. A forbidden score becomes −∞, so its weight is 0.",
         "visible in the code (True = may look), attn_mask"),
    Term("Merge", "tokens", "One learned rule of byte-pair encoding: these two pieces become one."),
    Term("Mixed", "attention", "The weighted sum of the values, for each query.", "context vector, z, attention output before w_o"),
    Term("Mixture of experts", "parameters", "Several feed-forward layers of which a router picks a few for each token.", "MoE"),
    Term("Multi-head attention", "many-heads", "Several heads at once; their results side by side are projected back by w_o.", "MHA"),
    Term("Multi-head latent attention", "memory-and-compute", "Keys and values are made from one short vector a token, and that vector is "
         "cached in their place.", "MLA"),
    Term("Nat", "training", "The unit of a loss with natural logarithms. One nat is about 1.443 bits."),
    Term("Next-token prediction", "training", "The task of a language model: from the tokens so far, a probability for each next one."),
    Term("One-hot vector", "embeddings", "All zeros but a single 1. Times a table it picks a row, which is what a lookup does."),
    Term("Online softmax", "memory-and-compute", "A softmax taken block by block, with a running maximum and a running sum, so that "
         "no whole row of scores has to be kept. FlashAttention rests on it."),
    Term("Optimizer state", "memory-and-compute", "What an optimizer keeps for each parameter: two running means in AdamW.",
         "m and v, moments"),
    Term("Out-of-scope message", "in-practice", "A message that fits none of the classes a classifier was trained on."),
    Term("Output projection", "many-heads", "The matrix w_o that takes the heads' results back to the width of the stream.",
         "w_o, W_O, c_proj, out_proj, o_proj"),
    Term("Padding mask", "causal-mask", "The rule that nobody looks at the tokens which only fill a text up to a common length."),
    Term("Parameter", "parameters", "A number that training changes.", "weight"),
    Term("Pattern", "attention", "The table of attention weights: rows are queries, columns keys, each row sums to 1. It says what was "
         "mixed, not why an answer came out.", "attention weights, attention probabilities, attention matrix"),
    Term("Position encoding", "positions", "What tells attention who stands where: vectors that are added, queries and keys that are "
         "turned, or scores that are changed.", "positional embedding"),
    Term("Pre-norm and post-norm", "block", "The norm before each step, on a copy of the stream, or after each addition, on the stream "
         "itself.", "norm_first"),
    Term("Precision", "memory-and-compute", "How many bits hold a number: float32 has 32; float16 and bfloat16 have 16 "
         "and share them out differently.",
         "dtype"),
    Term("Prefill", "memory-and-compute", "Reading the whole prompt in one pass, before the first token is written."),
    Term("Previous-token head", "looking-inside", "A head that looks at the token before."),
    Term("Principal component analysis", "embeddings", "The directions along which points are spread most. Two of them make a flat "
         "picture of many dimensions.", "PCA"),
    Term("Prompt injection", "in-practice", "Text in the input that tries to give the model new orders."),
    Term("Query, key, value", "queries-keys-values", "Three projections of a token's vector: what it looks for, what it offers to be found "
         "by, what it hands over.", "q, k, v"),
    Term("Raw score", "attention", "The dot product of a query and a key, before scaling.", "attention logit, q·k"),
    Term("Recurrent network", "why-attention", "A network that reads a text token by token and carries one state along.", "RNN"),
    Term("ReLU", "feed-forward", "An activation function: x where it is positive, else 0."),
    Term("Residual connection", "block", "A step's result is added to what it read, and does not replace it.", "skip connection"),
    Term("Residual stream", "block", "The vector of a token on its way through all blocks: each step reads it and adds to it.",
         "hidden states"),
    Term("RMSNorm", "normalisation", "For each token: divide by the root of the mean square of its features. Nothing is subtracted."),
    Term("Roofline", "memory-and-compute", "The lower of two limits: the machine's arithmetic, and its memory bandwidth times the "
         "arithmetic intensity."),
    Term("Rotary positions", "positions", "Pairs of features of q and k are turned by an angle that grows with the position. The score "
         "then depends on the distance alone.", "RoPE"),
    Term("Saturation", "scaling", "Large scores make one weight almost 1; then the gradient through the softmax is almost 0."),
    Term("Scaling", "scaling", "Dividing the scores by √d_head, so that their spread does not grow with the width of a head."),
    Term("Score", "attention", "The raw score after scaling, before mask and softmax.", "attention score, attn_scores"),
    Term("Seed", "welcome", "The number that a sequence of random draws starts from: the same seed, the same draws."),
    Term("Self-attention", "attention", "Attention whose queries, keys and values all come from the same tokens."),
    Term("SiLU", "feed-forward", "An activation function: x times the logistic function of x.", "Swish"),
    Term("Sinusoidal positions", "positions", "Sines and cosines of the position, at wavelengths from 2π up to 10,000·2π."),
    Term("Softmax", "attention", "Exponentials divided by their sum: scores become positive weights that sum to 1."),
    Term("SwiGLU", "feed-forward", "A gated feed-forward layer: one projection, sent through SiLU, times another. It has three matrices "
         "in place of two.",
         "gated linear unit, GLU, gate_proj"),
    Term("Temperature", "generation", "What logits are divided by before the softmax: below 1 the probabilities get sharper, above 1 "
         "flatter."),
    Term("Tied table", "forward-pass", "One table serves as embedding and as output table. It is counted once.",
         "weight tying, tie_word_embeddings, shared embedding"),
    Term("Token", "tokens", "A piece of text that a model reads as one unit: a word, a part of a word, a character or some bytes.",
         "piece"),
    Term("Token id", "tokens", "The number of a token in the vocabulary.", "token_ids, input_ids, idx"),
    Term("Tokenizer", "tokens", "What cuts a text into tokens and joins them again."),
    Term("Top-k", "generation", "Choosing among the k most probable tokens alone."),
    Term("Top-p", "generation", "Choosing among the fewest most probable tokens whose probabilities reach p together.", "nucleus sampling"),
    Term("Trace", "forward-pass", "In this course: every intermediate array of one computation, by name. All pictures are drawn "
         "from traces.",
         "cache, hooks"),
    Term("Unembedding", "forward-pass", "The table that turns the last stream into one logit for each token of the vocabulary.",
         "output table, lm_head, W_U"),
    Term("Vanishing gradient", "why-attention", "A gradient that shrinks at each step back, until early inputs have almost none."),
    Term("Vocabulary", "tokens", "All tokens that a tokenizer knows.", "vocab_size, n_vocab, d_vocab, V"),
    Term("Weight decay", "training", "Shrinking parameters a little at each step.", "decoupled weight decay"),
)

# one thing in six vocabularies; a dash where a code has no name of its own for it
CODES = ("here", "Vaswani et al. 2017", "GPT-2's code", "nanoGPT", "LlamaConfig, Hugging Face", "TransformerLens")
NAMES = (
    ("vocab_size", "–", "n_vocab", "vocab_size", "vocab_size", "d_vocab"),
    ("n_ctx", "–", "n_ctx", "block_size", "max_position_embeddings", "n_ctx"),
    ("n_tokens", "n", "sequence", "T", "–", "pos"),
    ("d_model", "d_model", "n_embd", "n_embd, C", "hidden_size", "d_model"),
    ("n_layers", "N", "n_layer", "n_layer", "num_hidden_layers", "n_layers"),
    ("n_heads", "h", "n_head", "n_head, nh", "num_attention_heads", "n_heads"),
    ("n_kv_heads", "–", "–", "–", "num_key_value_heads", "n_key_value_heads"),
    ("d_head", "d_k, d_v", "n_embd // n_head", "hs", "head_dim", "d_head"),
    ("d_ff", "d_ff", "nx*4", "4 * n_embd", "intermediate_size", "d_mlp"),
    ("w_embed", "embedding", "wte", "wte", "embed_tokens", "W_E"),
    ("w_pos", "PE (sinusoidal)", "wpe", "wpe", "– (rotary)", "W_pos"),
    ("w_qkv", "W^Q, W^K, W^V", "c_attn", "c_attn", "q_proj, k_proj, v_proj", "W_Q, W_K, W_V"),
    ("w_o", "W^O", "c_proj", "c_proj", "o_proj", "W_O"),
    ("w_in, w_out", "W_1, W_2", "c_fc, c_proj", "c_fc, c_proj", "up_proj, down_proj", "W_in, W_out"),
    ("pattern", "softmax(QKᵀ/√d_k)", "w", "att", "attn_weights", "hook_pattern"),
    ("mixed", "head_i", "a", "y", "attn_output", "hook_z"),
    ("resid_pre", "x", "x", "x", "hidden_states", "hook_resid_pre"),
    ("norm_1, norm_2", "LayerNorm", "ln_1, ln_2", "ln_1, ln_2", "input_layernorm, post_attention_layernorm", "ln1, ln2"),
)


def found(words, url=""):
    """The terms that hold these words, in name, other names or meaning; of one page alone where it is given.

    >>> [term.name for term in found("wte")]
    ['Embedding']
    """
    sought = words.casefold().split()
    if not all(any(letter.isalnum() for letter in word) for word in sought):
        return []
    return [term for term in TERMS if url in ("", term.url)
            and all(word in f"{term.name} {term.also} {term.meaning}".casefold() for word in sought)]


def of_page(url):
    """The terms that a page teaches.

    >>> [term.name for term in of_page("why-attention")]
    ['Recurrent network', 'Vanishing gradient']
    """
    return found("", url)


def line(term):
    """A term as a line of a Markdown list.

    >>> line(found("W_E")[0])[:15]
    '- **Embedding.*'
    """
    return f"- **{term.name}.** {term.meaning}" + (f" *Also:* {term.also}." if term.also else "")
