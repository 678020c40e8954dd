"""Make tests/golden/torch.npz: what PyTorch computes, for tests/test_against_torch.py to compare with.

    python3 -m venv /tmp/venv-torch
    /tmp/venv-torch/bin/pip install numpy torch==2.13.0      (the CPU build; nothing of this project needs it)
    /tmp/venv-torch/bin/python tests/golden/make_torch.py

Made with torch 2.13.0 (CPU) and float64, each case from its own seed. The names in the file are paths: "decoder/pre_gelu/out",
"decoder/pre_gelu/params/norm_1/gain". PyTorch keeps a matrix as (out, in) and multiplies x Wᵀ; this project keeps (in, out) and
multiplies x W. So every matrix is turned over on its way into the file, here and nowhere else, in `matrix`.

Masks are PyTorch's own words in the calls below, where True hides; in the file they are this project's, where True may look.
"""

from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("torch.npz")


def flat(tree, path=""):
    """{"a/b": array} of nested dicts."""
    found = {}
    for name, value in tree.items():
        found |= flat(value, f"{path}{name}/") if isinstance(value, dict) else {path + name: np.asarray(value)}
    return found


def plain(tensor):
    return tensor.detach().numpy().copy()


def matrix(weight):
    """(out, in) as (in, out)."""
    return plain(weight).T.copy()


def attention_params(module):
    """nn.MultiheadAttention: in_proj holds the rows of the queries, then keys, then values, each head after head."""
    return {"w_qkv": matrix(module.in_proj_weight), "b_qkv": plain(module.in_proj_bias),
            "w_o": matrix(module.out_proj.weight), "b_o": plain(module.out_proj.bias)}


def norm_params(module):
    return {"gain": plain(module.weight), "offset": plain(module.bias)}


def feed_forward_params(layer):
    return {"w_in": matrix(layer.linear1.weight), "b_in": plain(layer.linear1.bias),
            "w_out": matrix(layer.linear2.weight), "b_out": plain(layer.linear2.bias)}


def main():
    import torch
    from torch import nn

    torch.set_default_dtype(torch.float64)
    cases = {}

    def seeded(number):
        torch.manual_seed(number)

    def drawn(module):
        """All parameters anew: PyTorch starts biases at 0 and gains at 1, which would hide a mistake."""
        for parameter in module.parameters():
            nn.init.normal_(parameter, std=0.4)
        return module

    def slopes(function, x):
        x = x.clone().requires_grad_()
        out = function(x)
        out.sum().backward()
        return {"out": plain(out), "slope": plain(x.grad)}

    # --- norms and activations
    seeded(0)
    x = torch.randn(3, 5, 6) * 2 + 0.7
    layer, rms = drawn(nn.LayerNorm(6, eps=1e-5)), drawn(nn.RMSNorm(6, eps=1e-6))
    cases["layer_norm"] = {"x": plain(x), "params": norm_params(layer), "out": plain(layer(x)),
                           "no_params": plain(nn.functional.layer_norm(x, (6,), eps=0.1))}
    cases["rms_norm"] = {"x": plain(x), "gain": plain(rms.weight), "out": plain(rms(x)),
                         "no_params": plain(nn.functional.rms_norm(x, (6,), eps=0.1))}
    x = torch.cat([torch.linspace(-12, 12, 241), torch.tensor([-40.0, 40.0, -1e-9, 1e-9])])
    cases["activations"] = {"x": plain(x), "relu": slopes(nn.ReLU(), x), "gelu": slopes(nn.GELU(), x),
                            "gelu_tanh": slopes(nn.GELU(approximate="tanh"), x), "silu": slopes(nn.SiLU(), x)}

    # --- attention: two sequences, of 5 and of 3 tokens
    seeded(1)
    d_model, n_heads, n_tokens, n_sources = 8, 4, 5, 7
    causal = torch.triu(torch.ones(n_tokens, n_tokens, dtype=torch.bool), diagonal=1)
    filler = torch.arange(n_tokens) >= torch.tensor([[5], [3]])
    source_filler = torch.arange(n_sources) >= torch.tensor([[4], [7]])
    module = drawn(nn.MultiheadAttention(d_model, n_heads, batch_first=True))
    x, memory = torch.randn(2, n_tokens, d_model), torch.randn(2, n_sources, d_model)
    cases["attention"] = {"x": plain(x), "memory": plain(memory), "params": attention_params(module)}
    for name, context, hidden in (("none", x, {}), ("causal", x, {"attn_mask": causal}), ("padding", x, {"key_padding_mask": filler}),
                                  ("both", x, {"attn_mask": causal, "key_padding_mask": filler}), ("cross", memory, {}),
                                  ("cross_padding", memory, {"key_padding_mask": source_filler})):
        out, pattern = module(x, context, context, need_weights=True, average_attn_weights=False, **hidden)
        visible = torch.ones(2, n_tokens, context.shape[1], dtype=torch.bool)
        if "attn_mask" in hidden:
            visible &= ~causal
        if "key_padding_mask" in hidden:
            visible &= ~hidden["key_padding_mask"][:, None, :]
        cases["attention"][name] = {"out": plain(out), "pattern": plain(pattern), "visible": plain(visible)}

    # --- whole layers, in training mode without dropout, so that no fused path is taken
    cases["encoder"], cases["decoder"] = {"x": plain(x)}, {"x": plain(x), "memory": plain(memory)}
    for seed, (position, activation) in enumerate([(p, a) for p in ("post", "pre") for a in ("relu", "gelu")], 2):
        seeded(seed)
        choices = {"d_model": d_model, "nhead": n_heads, "dim_feedforward": 12, "dropout": 0.0, "activation": activation,
                   "batch_first": True, "norm_first": position == "pre"}
        encoder, decoder = drawn(nn.TransformerEncoderLayer(**choices)), drawn(nn.TransformerDecoderLayer(**choices))
        cases["encoder"][f"{position}_{activation}"] = {
            "params": {"attention": attention_params(encoder.self_attn), "feed_forward": feed_forward_params(encoder),
                       "norm_1": norm_params(encoder.norm1), "norm_2": norm_params(encoder.norm2)},
            "none": plain(encoder(x)), "causal": plain(encoder(x, src_mask=causal)),
            "padding": plain(encoder(x, src_key_padding_mask=filler))}
        cases["decoder"][f"{position}_{activation}"] = {
            "params": {"self_attention": attention_params(decoder.self_attn), "cross_attention": attention_params(decoder.multihead_attn),
                       "feed_forward": feed_forward_params(decoder), "norm_1": norm_params(decoder.norm1),
                       "norm_2": norm_params(decoder.norm2), "norm_3": norm_params(decoder.norm3)},
            "causal": plain(decoder(x, memory, tgt_mask=causal)), "none": plain(decoder(x, memory)),
            "padding": plain(decoder(x, memory, tgt_mask=causal, memory_key_padding_mask=source_filler))}
    cases["visible"] = {"causal": plain(~causal), "padding": plain(~filler[:, None, :]),
                        "source_padding": plain(~source_filler[:, None, :])}

    # --- a recurrent network: the loss is Σ d_states · states, so that d_states is its gradient for the states
    seeded(6)
    n_steps, d_in, d_state = 6, 3, 4
    module = drawn(nn.RNN(d_in, d_state, nonlinearity="tanh"))
    x, start = torch.randn(n_steps, d_in, requires_grad=True), torch.randn(1, d_state, requires_grad=True)
    d_states = torch.randn(n_steps, d_state)
    states, _ = module(x, start)
    (states * d_states).sum().backward()
    w_x, w_h, b_x, b_h = module.weight_ih_l0, module.weight_hh_l0, module.bias_ih_l0, module.bias_hh_l0
    assert torch.allclose(b_x.grad, b_h.grad, rtol=0, atol=1e-13)  # two biases that are added: this project has their sum
    cases["recurrent"] = {
        "x": plain(x), "start": plain(start)[0], "d_states": plain(d_states), "states": plain(states),
        "params": {"w_x": matrix(w_x), "w_h": matrix(w_h), "b": plain(b_x + b_h)},
        "gradients": {"w_x": matrix(w_x.grad), "w_h": matrix(w_h.grad), "b": plain(b_x.grad), "x": plain(x.grad),
                      "start": plain(start.grad)[0]}}

    np.savez_compressed(FILE, made_with=f"torch {torch.__version__}", **flat(cases))


if __name__ == "__main__":
    main()
