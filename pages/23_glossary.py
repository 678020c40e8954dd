"""Glossary and sources: every term with its page, what other code calls it, and what the course rests on."""

import streamlit as st

from pages.shared import controls, glossary, lesson, sources, syllabus

PAGE = "glossary"
pages = {entry.url: entry for entry in syllabus.LESSONS}
taught = [entry.url for entry in syllabus.LESSONS if glossary.of_page(entry.url)]

lesson.say("Each term has one name in this course: the same in the texts, in the pictures and in the code. Type a word, also one that "
           "other code uses, such as n_embd; or pick a page and see its terms.")
left, right = st.columns(2)
with left:
    sought = controls.words(PAGE, "find", "Find a word", "", max_length=60, placeholder="n_embd")
with right:
    picked = controls.pick(PAGE, "page", "Terms of", ["all pages", *(pages[url].title for url in taught)])
url = taught[picked - 1] if picked else ""
terms = glossary.found(sought, url)
lesson.say(f"**{len(terms)} of {len(glossary.TERMS)} terms.** Under each page's name stand the terms that it teaches.")
if not terms:
    lesson.remarks(["No term of this course holds what you typed. Try a shorter word" + (", or “all pages”." if url else ".")])
for each in (each for each in taught if any(term.url == each for term in terms)):
    lesson.link(pages[each], f"**{pages[each].title}**")
    lesson.say("\n".join(glossary.line(term) for term in terms if term.url == each))

lesson.heading("The same thing in other code")
code = controls.choice(PAGE, "code", "Names in", glossary.CODES[1:], "nanoGPT")
column = glossary.CODES.index(code)
lesson.say(f"| here | {code} |\n|:--|:--|\n" + "\n".join(
    f"| `{names[0]}` | {names[column] if names[column].startswith('–') else f'`{names[column]}`'} |" for names in glossary.NAMES))
lesson.say("An entry in several words says how that code writes it; a dash: it has no name of its own for it.")
lesson.say("Two traps. In GPT-2's code and in PyTorch's `scaled_dot_product_attention` a True or 1 in the mask marks what **may** be "
           "seen, as here; in PyTorch's `MultiheadAttention` it marks what may **not** be seen. And “weight” can mean a parameter or an "
           "attention weight: here attention weights stand in the pattern, and what training changes is a parameter.")

lesson.heading("Sources")
lesson.say("What the pages cite, with the sections that they rest on. The sentences and the code of this course are its own.")
lines = []
for source in sources.SOURCES:
    used = [f"{pages[each].title}{': ' if part else ''}{part}" for each, part in sources.cited_on(source)]
    lines.append(f"- **{source.cite}.** *{source.title}.* {source.where}. [{source.link}](https://{source.link})"
                 + (f" :small[On: {'; '.join(used)}.]" if used else ""))
lesson.say("\n".join(lines))
lesson.source("Vaswani et al. 2017", "openai/gpt-2, src/model.py", "karpathy/nanoGPT, model.py", "huggingface/transformers, "
              "configuration_llama.py and modeling_llama.py", "TransformerLens, HookedTransformerConfig and components",
              "PyTorch 2, torch.nn.MultiheadAttention")
