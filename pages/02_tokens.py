"""Tokens: text becomes pieces, pieces become ids."""

import unicodedata

import streamlit as st

from core import arithmetic_pieces, byte_pairs, tokenizers
from pages.shared import chips, controls, lesson, plots, slow, text, texts

PAGE, MAX_CHARACTERS, MAX_DRAWN, MAX_MERGES = "tokens", 400, 200, 200
TOKENIZERS = {"byte pairs": tokenizers.BytePairTokenizer, "characters": tokenizers.CharTokenizer, "words": tokenizers.WordTokenizer}

words, notes = controls.own_tokens()
if words:
    (whole, notes), about = text.clean(st.session_state["text"]), ""
else:
    whole, about = list(texts.READY.values())[controls.pick(PAGE, "example", "Text", texts.READY)]
shown = whole[:MAX_CHARACTERS]
if len(shown) < len(whole):
    notes = (*notes, f"Your text has {len(whole):,} characters. The first {MAX_CHARACTERS} are used, so that each piece stays readable.")
lesson.remarks(notes)
left, right = st.columns(2, vertical_alignment="bottom")
with left:
    kind = controls.choice(PAGE, "tokenizer", "Tokenizer", list(TOKENIZERS))
with right:
    corpus = controls.choice(PAGE, "training", "Trained on", ("a story", "low, lower, newest, widest", "the text itself"))
training = {"a story": texts.STORY, "the text itself": shown}.get(corpus, texts.LOW)
n_merges = controls.whole(PAGE, "n_merges", "Merges of byte pairs", 0, MAX_MERGES, 40)

full = slow.trained(training, MAX_MERGES)
n_merges = min(n_merges, len(full.merges))
pairs = tokenizers.BytePairTokenizer(full.merges[:n_merges], full.history[:n_merges])
by_word, by_character = tokenizers.WordTokenizer.train(training), tokenizers.CharTokenizer.train(training)
in_bytes, byte_ids = pairs.byte_pieces(shown), pairs.encode(shown)


def name(piece):
    """Bytes as they can be read."""
    read = byte_pairs.readable(piece)
    return chips.names([read], [0] * (read.encode() != piece))[0]


lesson.say("A model computes with numbers, so a text is first cut into **pieces** (tokens), and each piece gets its **id**: the number of "
           "its row in the vocabulary. A vocabulary of *words* knows only the words that it saw. One of *characters* misses less, but "
           "makes many pieces. **Byte pairs** start from the 256 bytes, so that every text has pieces, and then merge the pair that stands "
           "side by side most often, again and again (Sennrich et al. 2016; on bytes, Radford et al. 2019).")
lesson.formula(r"\text{next merge} = \underset{(a,\,b)}{\arg\max}\ \text{count}(a \text{ before } b)")
lesson.ask(PAGE, "Before the first merge, what are the pieces of byte-pair encoding?", ["words", "characters", "bytes"], 2,
           f"It starts from the 256 bytes. The text below has {len(shown)} characters and {len(shown.encode())} bytes in UTF-8.")

if kind == "byte pairs":
    pieces, ids, names = in_bytes, byte_ids, [name(piece) for piece in in_bytes]
    dashed = [i for i, piece in enumerate(pieces) if byte_pairs.readable(piece).encode() != piece]
else:
    pieces = list(shown) if kind == "characters" else by_word.pieces(shown)
    ids = [by_character.ids.get(piece) for piece in pieces] if kind == "characters" else by_word.encode(shown)
    names, unknown = chips.names(pieces), None if kind == "characters" else 0
    dashed = [i for i, number in enumerate(ids) if number == unknown]
n_drawn = min(len(pieces), MAX_DRAWN)
lesson.heading(f"The text in {kind}" + f", after {n_merges} merge{'s' * (n_merges != 1)}" * (kind == "byte pairs"))
if n_merges == len(full.merges) < MAX_MERGES:
    lesson.say(f"Training on this text ends after {n_merges} merges: no pair stands side by side twice any more.")
longest = max(range(n_drawn), key=lambda i: len(pieces[i]))
picked = controls.pick(PAGE, "piece", "Piece to look at (or click it)", chips.options(names[:n_drawn]), longest)


def take():
    """Callback: a piece was clicked."""
    if point := controls.clicked(f"{PAGE}.pieces"):
        st.session_state[f"{PAGE}.piece"] = int(point["customdata"])


meaning = "part of a character, shown by its bytes" if kind == "byte pairs" else "not in the vocabulary"
figure = chips.chips(names[:n_drawn], ids[:n_drawn], dashed=dashed, clicked=picked, dark=lesson.dark(), width=lesson.look(760)["width"])
lesson.picture(figure, f"{PAGE}.pieces", f"The text as {n_drawn} boxes in reading order, each with its piece and its id. {len(dashed)} of "
               f"{len(pieces)} pieces are dashed: {meaning}.", take)
lesson.say(f"The first {n_drawn} of {len(pieces):,} pieces are drawn; all are counted below. " * (n_drawn < len(pieces)) + "Equal ids have "
           "equal colours; different ids can share one." + f" Dashed, no colour: {meaning}." * bool(dashed) + f" {about}" * bool(about))
if kind == "characters" and dashed:
    try:
        by_character.encode(shown)
    except ValueError as fault:
        lesson.words(str(fault))
elif kind == "words" and dashed:
    lesson.say(f"Training did not see {len(dashed)} of these {len(pieces)} pieces. All get id 0 and their text is lost. Decoding gives:")
    lesson.words(by_word.decode(ids))

lesson.heading("How many pieces")
counts = {"words": len(by_word.pieces(shown)), "characters": len(shown), "byte-pairs": len(in_bytes)}
stops = list(range(0, MAX_MERGES + 1, 20))
after = slow.pieces_after(training, MAX_MERGES, shown, stops)
left, right = st.columns(2)
with left:
    figure = plots.bars(list(counts), list(counts.values()), title="Pieces of this text", y_title="pieces", dark=lesson.dark())
    lesson.picture(figure, f"{PAGE}.counts", "Pieces of the text: " + ", ".join(f"{each} {count}" for each, count in counts.items()) + ".")
with right:
    figure = plots.curves(stops, {"pieces": after}, title="Pieces after so many merges", x_title="merges", y_title="pieces", at=n_merges,
                          y_range=(0, 1.08 * after[0]), dark=lesson.dark())
    lesson.picture(figure, f"{PAGE}.after", f"Byte pairs: {after[0]} pieces with no merge, {after[-1]} with up to {MAX_MERGES}.")
lesson.say("Each piece takes one place of the model's context and is one more position for attention, whose work grows with the square of "
           "their number (Vaswani et al. 2017, table 1). In *words*, the white space between two words is a piece as well.")

lesson.heading("The merges, one by one")
lines = []
for number, merge in enumerate(pairs.history):
    ties = ", ".join(f"{name(a)} + {name(b)}" for a, b in merge.ties[:3]) + ", …" * (len(merge.ties) > 3)
    lines.append(f"merge {number}: {name(merge.left)} + {name(merge.right)} → {name(merge.left + merge.right)}, id {256 + number}, "
                 f"{merge.count} times" + f"; as often: {ties}" * bool(ties))
if lines:
    figure = plots.bars([name(merge.left + merge.right).replace(" ", "") for merge in pairs.history], [m.count for m in pairs.history],
                        title="How often each merged pair stood side by side", y_title="times", dark=lesson.dark())
    lesson.picture(figure, f"{PAGE}.merges", f"Counts of the {n_merges} merged pairs, in the order of the merges.")
    lesson.say(f"The last {min(n_merges, 8)} of {n_merges}. Of pairs that stand side by side equally often, the one whose bytes come first "
               "wins: left piece, then right piece. A merge never joins two words.")
    lesson.words("\n".join(lines[-8:]))
else:
    lesson.say("No merge yet: every byte is a piece.")
if training == texts.LOW:
    paper = byte_pairs.train_steps({(*word, "</w>"): texts.LOW.split().count(word) for word in texts.LOW.split()}, 5)
    lesson.say("Sennrich et al. mark the end of a word by `</w>`; here, as in GPT-2, the space before a word belongs to it. With their "
               f"mark the first five merges are {', '.join(f'`{name(m.left + m.right)}` ({m.count} times)' for m in paper)}.")

piece, number = pieces[picked], ids[picked]
if kind == "byte pairs":
    made = arithmetic_pieces.merges_behind(pairs, piece)
    steps = [f"bytes in UTF-8: {piece.hex(' ').upper()}", *(lines[merge].split("; as often")[0] for merge in made),
             f"id = 256 bytes + merge {number - 256} = {number}" if made else f"a single byte: its id is its value, {number}"]
elif kind == "characters":
    steps = [f"U+{ord(piece):04X} {unicodedata.name(piece, '(no name)')}", "the training text does not hold it: no id" if number is None
             else f"entry {number} of the {len(by_character.vocabulary)} characters of the training text, in code point order"]
else:
    times = by_word.pieces(training).count(piece)
    steps = [f"the training text holds it {times} time{'s' * (times != 1)}", f"entry {number} of {len(by_word.vocabulary)}: the most "
             "frequent first, ties in the order of the training text" if number else "unknown: id 0, <unk>"]
where = f"piece {picked}: {chips.shortened(names[picked], 40)} in {text.quoted(shown)}"
lesson.panel(where, "no id" if number is None else str(number), steps)

lesson.weights("Nothing is drawn at random: pieces and ids are counted in the training text. An id alone means nothing: it names a row.")
lesson.check("byte pairs: decoding the ids gives the text back", pairs.decode(byte_ids) != shown, 0)
lesson.check("byte pairs: each id's entry in the vocabulary is its piece", [pairs.vocabulary[i] for i in byte_ids] != in_bytes, 0)
lesson.ran(byte_pairs.train_steps, byte_pairs.join_pair, TOKENIZERS[kind])
encoded = "[tokenizer.ids.get(piece) for piece in text]" if kind == "characters" else "tokenizer.encode(text)"
lesson.script("Tokens", (TOKENIZERS[kind],), {"n_merges": n_merges}, f"""
    text, training = tokens
    tokenizer = {TOKENIZERS[kind].__name__}.train(training{", n_merges" * (kind == "byte pairs")})
    show("pieces", tokenizer.pieces(text))
    show("ids", {encoded})
    """, (shown, training))
lesson.source("Sennrich, Haddow & Birch 2016, section 3.2", "Radford et al. 2019, section 2.2", "Vaswani et al. 2017, section 4",
              "RFC 3629 (UTF-8), section 3", "Unicode Technical Standard 51, definition ED-16 (joined emoji)")
