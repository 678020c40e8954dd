"""How fast a training step and a forward pass of the core are, against PyTorch in eager mode on the same work.

    python tests/benchmarks/core_speed.py [--rounds 6]        (needs torch; this project does not)

Same configuration, weights and batch in float32.
Our step cuts the batch in two halves on two threads, with one BLAS thread each.
Thread pools go on spinning after a call, so the two take turns in blocks with a rest
between them, the first call of each block is dropped, and the medians of the rest are divided. Needs a quiet machine; quote ratios.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import ThreadpoolController
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # so that it runs as a script

from core.config import ModelConfig  # noqa: E402
from core.gradients import loss_and_grads  # noqa: E402
from core.kv_cache import multiply_adds  # noqa: E402
from core.optimizer import AdamW, walk  # noqa: E402
from core.transformer import forward, init_params  # noqa: E402

STEPS = {"step 2 layers, 4 heads, width 64, length 64, batch 16": (ModelConfig(64, 64, 64, 2, 4, activation="gelu_tanh"), 16),
         "step 4 layers, 4 heads, width 128, length 128, batch 16": (ModelConfig(64, 128, 128, 4, 4, activation="gelu_tanh"), 16)}
GPT_2 = ModelConfig(50257, 1024, 768, 12, 12, activation="gelu_tanh")


def torch_logits(p, ids, config):
    def norm(x, name):
        return functional.layer_norm(x, (config.d_model,), p[f"{name}.gain"], p[f"{name}.offset"], 1e-5)

    x = functional.embedding(ids, p["w_embed"]) + p["w_pos"][: ids.shape[1]]
    for i in range(config.n_layers):
        at = f"blocks.{i}"
        q, k, v = ((norm(x, f"{at}.norm_1") @ p[f"{at}.attention.w_qkv"] + p[f"{at}.attention.b_qkv"])
                   .view(*ids.shape, 3, config.n_heads, config.d_head).permute(2, 0, 3, 1, 4))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape)
        x = x + mixed @ p[f"{at}.attention.w_o"] + p[f"{at}.attention.b_o"]
        hidden = functional.gelu(norm(x, f"{at}.norm_2") @ p[f"{at}.feed_forward.w_in"] + p[f"{at}.feed_forward.b_in"], approximate="tanh")
        x = x + hidden @ p[f"{at}.feed_forward.w_out"] + p[f"{at}.feed_forward.b_out"]
    return norm(x, "final_norm") @ p["w_embed"].T


def named(params):
    return {".".join(map(str, path)): array for path, array in walk(params)}


def pair(config, n_sequences):
    """A training step of ours and of PyTorch's, as functions."""
    rng = np.random.default_rng(0)
    params = init_params(config, rng, dtype=np.float32)
    ids, targets = rng.integers(0, config.vocab_size, (2, n_sequences, config.n_ctx))
    ours = AdamW(params)
    p = {name: torch.tensor(array, requires_grad=True) for name, array in named(params).items()}
    theirs = torch.optim.AdamW(p.values(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.0)
    t_ids, t_targets = torch.tensor(ids), torch.tensor(targets)

    blas = ThreadpoolController().select(internal_api="openblas")  # NumPy's own, not PyTorch's

    def step():
        with blas.limit(limits=1):
            loss, grads = loss_and_grads(ours.params, ids, targets, config, n_threads=2)
        ours.step(grads, 1e-3)
        return loss

    def torch_step():
        theirs.zero_grad()
        loss = functional.cross_entropy(torch_logits(p, t_ids, config).reshape(-1, config.vocab_size), t_targets.reshape(-1))
        loss.backward()
        theirs.step()
        return loss.item()

    return step, torch_step


def forward_pair():
    params = init_params(GPT_2, np.random.default_rng(0), dtype=np.float32)
    ids = np.random.default_rng(1).integers(0, GPT_2.vocab_size, (1, 128))
    p = {name: torch.tensor(array) for name, array in named(params).items()}
    t_ids = torch.tensor(ids)

    def ours():
        return float(forward(params, ids, GPT_2).logits[0, -1, 0])

    def theirs():
        with torch.no_grad():
            return torch_logits(p, t_ids, GPT_2)[0, -1, 0].item()

    return ours, theirs


def peak(size=1024, n_calls=12):
    """The rate of a large matrix product in float32, in multiply-adds a second: what a step can be compared with."""
    one, other = np.random.default_rng(0).standard_normal((2, size, size), dtype=np.float32)
    times = []
    for _ in range(n_calls):
        start = time.perf_counter()
        one @ other
        times.append(time.perf_counter() - start)
    return size**3 / statistics.median(times[1:])


def compare(name, ours, theirs, rounds, work, n_calls=6):
    gap = abs(ours() - theirs())
    times = {ours: [], theirs: []}
    for _ in range(rounds):
        for function, kept in times.items():
            time.sleep(0.25)
            for call in range(n_calls):
                start = time.perf_counter()
                function()
                if call:
                    kept.append(time.perf_counter() - start)
    own, other = (statistics.median(kept) * 1000 for kept in times.values())
    share = work / (own / 1000) / peak()
    print(f"{name}: ours {own:.1f} ms, torch {other:.1f} ms, ratio {own / other:.2f} (results differ by {gap:.1e}); "
          f"{share:.0%} of the machine's rate of a large matrix product")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=6)
    args = parser.parse_args()
    for name, (config, n_sequences) in STEPS.items():
        forward_work = n_sequences * multiply_adds(config, config.n_ctx).total
        compare(name, *pair(config, n_sequences), args.rounds, 3 * forward_work)  # backward: two products for each of the forward's
    compare("forward of GPT-2 small's shape, 128 tokens", *forward_pair(), args.rounds, multiply_adds(GPT_2, 128).total)


if __name__ == "__main__":
    main()
