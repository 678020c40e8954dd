"""Makes torch_training.npz: gradients of a small GPT by PyTorch's autograd, and its parameters after 20 steps of AdamW.

    python tests/golden/make_torch_training.py        (with torch 2.13.0 and numpy, on the CPU; float64)

The model is written with PyTorch's own functions alone. Names are those of `core.transformer.init_params`, steps joined by dots.
"""

import pathlib

import numpy as np
import torch
from torch.nn import functional

D, HEADS, LAYERS, VOCAB, CONTEXT, WIDE, STEPS = 16, 4, 2, 11, 8, 24, 20


def parameters(rng):
    made = {"w_embed": (VOCAB, D), "w_pos": (CONTEXT, D)}
    for i in range(LAYERS):
        made |= {f"blocks.{i}.norm_1.gain": (D,), f"blocks.{i}.norm_1.offset": (D,),
                 f"blocks.{i}.attention.w_qkv": (D, 3 * D), f"blocks.{i}.attention.w_o": (D, D),
                 f"blocks.{i}.attention.b_qkv": (3 * D,), f"blocks.{i}.attention.b_o": (D,),
                 f"blocks.{i}.norm_2.gain": (D,), f"blocks.{i}.norm_2.offset": (D,),
                 f"blocks.{i}.feed_forward.w_in": (D, WIDE), f"blocks.{i}.feed_forward.w_out": (WIDE, D),
                 f"blocks.{i}.feed_forward.b_in": (WIDE,), f"blocks.{i}.feed_forward.b_out": (D,)}
    made |= {"final_norm.gain": (D,), "final_norm.offset": (D,)}
    return {name: rng.normal(size=shape) * 0.2 + name.endswith("gain") for name, shape in made.items()}


def loss_of(p, ids, targets):
    def norm(x, name):
        return functional.layer_norm(x, (D,), p[f"{name}.gain"], p[f"{name}.offset"], 1e-5)

    x = functional.embedding(ids, p["w_embed"]) + p["w_pos"][: ids.shape[1]]
    for i in range(LAYERS):
        at = f"blocks.{i}"
        q, k, v = ((norm(x, f"{at}.norm_1") @ p[f"{at}.attention.w_qkv"] + p[f"{at}.attention.b_qkv"])
                   .view(*ids.shape, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(*ids.shape, D)
        x = x + mixed @ p[f"{at}.attention.w_o"] + p[f"{at}.attention.b_o"]
        hidden = functional.gelu(norm(x, f"{at}.norm_2") @ p[f"{at}.feed_forward.w_in"] + p[f"{at}.feed_forward.b_in"], approximate="tanh")
        x = x + hidden @ p[f"{at}.feed_forward.w_out"] + p[f"{at}.feed_forward.b_out"]
    logits = norm(x, "final_norm") @ p["w_embed"].T
    return functional.cross_entropy(logits.reshape(-1, VOCAB), targets.reshape(-1), ignore_index=-1)


def main():
    rng = np.random.default_rng(0)
    start = parameters(rng)
    ids, targets = rng.integers(0, VOCAB, (2, STEPS, 3, 7))
    targets[:, 0, :2] = -1
    p = {name: torch.tensor(array, requires_grad=True) for name, array in start.items()}
    groups = [{"params": [a for a in p.values() if a.ndim > 1], "weight_decay": 0.1},
              {"params": [a for a in p.values() if a.ndim == 1], "weight_decay": 0.0}]
    adam = torch.optim.AdamW(groups, lr=0.01, betas=(0.9, 0.98), eps=1e-8)
    saved = {f"start/{name}": array for name, array in start.items()} | {"ids": ids, "targets": targets}
    losses = []
    for step in range(STEPS):
        adam.zero_grad()
        loss = loss_of(p, torch.tensor(ids[step]), torch.tensor(targets[step]))
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            saved |= {f"grad/{name}": a.grad.numpy().copy() for name, a in p.items()}
        adam.step()
    saved |= {f"after/{name}": a.detach().numpy() for name, a in p.items()} | {"losses": np.array(losses)}
    np.savez_compressed(pathlib.Path(__file__).parent / "torch_training.npz", **saved)


if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    main()
