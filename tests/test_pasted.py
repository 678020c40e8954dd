"""Pasted files: the ready ones lead to the published counts, and whatever is wrong with a paste gets one clear sentence."""

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import pasted
from core.accounting import count_parameters
from core.hugging_face import from_hugging_face
from core.published_models import MODELS
from tests.test_hugging_face import FILES

GPT2, LLAMA = FILES["gpt2"], FILES["llama-2-7b"] | {"num_key_value_heads": 32}


def without(name, base=GPT2):
    return json.dumps({key: value for key, value in base.items() if key != name})


def changed(base=GPT2, **more):
    return json.dumps(base | more)


BAD = {
    "nothing": ("", "nothing here yet"), "spaces": (" \n\t ", "nothing here yet"), "words": ("my config", 'begins with "m"'),
    "a page": ("<html><b>x</b>", 'begins with "<"'), "a fence": ("```json\n{}\n```", 'begins with "`"'),
    "a null character": ("\x00{}", r'begins with "\\u0000"'), "broken off": (json.dumps(GPT2)[:-1], "breaks off"),
    "broken off in a text": ('{"model_type": "gp', "closing double quote"), "single quotes": ("{'model_type': 'gpt2'}", "single quotes"),
    "a comma too many": ('{"n_embd": 768,}', "comma"),
    "no comma": ('{"n_embd": 768 "n_head": 12}', "comma or a closing bracket is missing"),
    "no colon": ('{"n_embd" 768}', "a colon"), "no value": ('{"n_embd": }', "a value is missing"),
    "Python": ('{"tie_word_embeddings": True}', "a value is missing, or it is no"), "two files": (json.dumps(GPT2) * 2, "one file alone"),
    "a line end in a text": ('{"model_type": "gpt2\n"}', "a line ends"), "a list": ("[1, 2]", "This is a list"),
    "a number": ("768", 'begins with "7"|This is a number'), "a text": ('"gpt2"', "This is a text"), "null": ("null", "nothing"),
    "NaN": ('{"n_embd": NaN}', "NaN is no number"), "Infinity": ('{"n_embd": -Infinity}', "Infinity is no number"),
    "too large": ('{"n_embd": 1e999}', "too large"), "5,000 digits": ('{"n_embd": ' + "9" * 5000 + "}", "5,000 digits"),
    "twice": ('{"n_embd": 768, "n_embd": 1024}', '"n_embd" stands twice'),
    "twice, deeper": ('{"a": {"b": 1, "b": 2}}', '"b" stands twice'), "deep lists": ("[" * 100_000, "hundreds deep"),
    "deep objects": ('{"a":' * 30_000, "hundreds deep"), "a megabyte": ("x" * 1_000_001, "1,000,001 characters"),
    "an empty object": ("{}", '"model_type" is missing'), "no family": (without("model_type"), '"model_type" is missing'),
    "another family": (changed(model_type="mamba"), '"mamba"; this reader knows gpt2, bert, t5'),
    "markup for a family": (changed(model_type="<b>![x](http://e.org)</b>"), "this reader knows"),
    "half a character": (changed(model_type="\ud800"), r'"\\ud800"; this reader'),
    "a list for a family": (changed(model_type=["gpt2"]), r'\["gpt2"\]; this reader'),
    "no width": (without("n_embd"), '"n_embd" is missing from this gpt2'),
    "null for a width": (changed(n_embd=None), '"n_embd" is missing'),
    "a text for a width": (changed(n_embd="768"), '"n_embd" is "768"; .* without quotation marks'),
    "a point in a width": (changed(n_embd=768.5), '"n_embd" is 768.5; it must be a whole number'),
    "true for a width": (changed(n_embd=True), '"n_embd" is true'), "a negative width": (changed(n_embd=-768), '"n_embd" is -768'),
    "no layers": (changed(n_layer=0), '"n_layer" is 0'), "a list of layers": (changed(n_layer=[12]), r'"n_layer" is \[12\]'),
    "an object for layers": (changed(n_layer=GPT2), '"n_layer" is {"model_type"'),
    "too wide": (changed(n_embd=10**12), "1,000,000 or less"),
    "heads that don't divide": (changed(n_head=5), '"n_embd" 768 .* 5 equal heads'),
    "key/value heads that don't divide": (changed(LLAMA, num_key_value_heads=5), "1, 2, 4, 8, 16, 32"),
    "an odd head": (changed(LLAMA, head_dim=3), "must be even, not 3"),
    "a word for tied": (changed(LLAMA, tie_word_embeddings="no"), '"tie_word_embeddings" is "no"; it must be true or false'),
    "another bend": (changed(activation_function="tan"), '"activation_function" is "tan"; it can be gelu'),
    "a gate that is none": (changed(LLAMA, hidden_act="relu"), "for a gate it can be silu or gelu"),
    "a word for a length": (changed(LLAMA, max_position_embeddings="long"), '"max_position_embeddings" is "long"'),
    "a word for a width that has a default": (changed(n_inner="wide"), '"n_inner" is "wide"'),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_paste_gets_one_clear_sentence(name):
    text, sentence = BAD[name]
    with pytest.raises(ValueError, match=sentence) as fault:
        pasted.count(text)
    said = str(fault.value)
    assert type(fault.value) is ValueError and fault.value.__cause__ is None
    assert 30 < len(said) < 260 and said.endswith(".") and "\n" not in said and said.isprintable()
    said.encode()


def test_there_are_more_than_thirty_of_them():
    assert len(BAD) > 30


@given(st.one_of(st.text(max_size=60), st.text('{}[]":,0129eE.-naN truefls\\', max_size=60)))
def test_any_text_is_a_dict_or_a_sentence(text):
    try:
        assert isinstance(pasted.read(text), dict)
    except ValueError as fault:
        assert type(fault) is ValueError and str(fault).endswith(".")


@pytest.mark.parametrize("name, model", [("GPT-2 small", "gpt2"), ("Llama 3 8B", "llama-3-8b"), ("Mixtral 8x7B", "mixtral-8x7b")])
def test_a_ready_file_leads_to_the_published_model(name, model):
    found = pasted.count(pasted.READY[name])
    assert count_parameters(found.reading.config) == count_parameters(MODELS[model]) and not found.reading.unknown


@pytest.mark.parametrize("name", FILES)
def test_the_short_form_says_the_same_and_fits_into_an_address(name):
    found = pasted.count(json.dumps(FILES[name], indent=4))
    again = pasted.count(found.compact)
    whole = dataclasses.replace(from_hugging_face(FILES[name]), n_ctx=again.reading.config.n_ctx)  # no array depends on it where it differs
    assert again.reading.config == whole and count_parameters(whole) == count_parameters(MODELS[name])
    assert again.compact == found.compact and len(found.compact) < 700
    assert set(again.reading.used) == set(found.reading.used) == set(json.loads(found.compact)) and not again.reading.neutral


def test_every_field_is_named_once_as_what_became_of_it():
    file = GPT2 | {"_name_or_path": "mine", "odd": 1, "other": None}
    reading = pasted.count(json.dumps(file)).reading
    named = [*reading.used, *reading.neutral, *reading.unknown]
    assert sorted(named) == sorted(file) and reading.unknown == ("odd", "other") and "_name_or_path" in reading.neutral
    assert "n_inner is not given; this format's default is 3,072." in reading.notes


def test_what_stands_around_a_file_does_no_harm():
    assert pasted.read("\ufeff \n" + json.dumps(GPT2) + "\n\n") == GPT2
