"""Memory and compute: what a model keeps, what it computes, and how fast that could be."""

from core import accounting, costs, memory, query_blocks, roofline
from pages.shared import controls, costing, costing_time, costing_work, lesson, slow_costs

PAGE = "memory_and_compute"
VIEWS = {"KV cache": costing.cache, "memory": costing.whole_memory, "FLOPs": costing_work.operations, "roofline": costing_work.roofs,
         "attention and recurrence": costing_time.against_recurrence, "same numbers, less memory": costing_time.in_blocks}

example = costs.layer_costs(50, 512)
lesson.say("A model costs **memory** for what it keeps and **compute** for what it multiplies. Both follow from a few sizes, so they can "
           "be counted before anything is built. Every number here is counted by the functions at the foot of the page.")
lesson.say(f"Bytes come in two units: 1 **GB** is {memory.GB:,} bytes, 1 **GiB** is {memory.GIB:,}. Machines are sold in one and often "
           "filled in the other, so this page always says which.")
lesson.ask(PAGE, f"A layer is {example.d} wide and reads {example.n} tokens. What takes more multiply-adds to mix them?",
           ["attention, n² · d", "a recurrent network, n · d²", "both the same"], 1,
           f"Attention takes {example.attention_mixing:,} and the recurrent network {example.recurrent_mixing:,}, "
           f"{costs.mixing_ratio(example):g} times as many, because n is smaller than d. They are equal at n = d. The view “attention and "
           "recurrence” has the whole layers too.")
view = controls.choice(PAGE, "view", "Look at", list(VIEWS))
told = VIEWS[view](PAGE)

lesson.weights("The sizes are those that the makers of the models published; nothing of these models is loaded or run. The queries, keys "
               "and values of “same numbers, less memory” are drawn at random: what they look at means nothing.")
lesson.check("the counted bytes of a small model are those of its arrays", slow_costs.counted_bytes_gap(), 0)
lesson.check("attention and recurrence cross at n = d", costs.layer_costs(64, 64).attention_mixing
             - costs.layer_costs(64, 64).recurrent_mixing, 0)
lesson.ran(accounting.kv_cache_bytes_per_token, accounting.forward_flops, memory.kept_arrays, memory.training, costs.layer_costs,
           roofline.one_pass, roofline.bound, query_blocks.attend_in_blocks)
lesson.script("Memory and compute", *told)
lesson.source("Vaswani et al. 2017, section 4 and table 1", "Shazeer 2019 (multi-query attention)",
              "Ainslie et al. 2023 (grouped-query attention)", "DeepSeek-AI 2024, DeepSeek-V2 (latent attention)",
              "Pope et al. 2022 (cost of inference)",
              "Kaplan et al. 2020, section 2.1 (2 N and 6 N)", "Micikevicius et al. 2018, section 3.1 (mixed precision)",
              "Rajbhandari et al. 2020, ZeRO, section 3.1 (16 bytes a parameter)", "Williams, Waterman & Patterson 2009 (roofline)",
              "Milakov & Gimelshein 2018 (running softmax)", "Rabe & Staats 2021", "Dao et al. 2022, section 3.1 (FlashAttention)")
