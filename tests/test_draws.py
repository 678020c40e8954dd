"""Random arrays that depend on a seed and a name alone."""

import hashlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from core import draws
from core.draws import child_rng, projection, token_vectors

pytestmark = pytest.mark.filterwarnings("error")

ANY_TOKEN = st.text(st.characters())  # with lone surrogates


def generator_for(text):
    """SHA-256 of the text, cut into eight little-endian numbers of 32 bits, seeds PCG64."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    words = [int.from_bytes(digest[i:i + 4], "little") for i in range(0, 32, 4)]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))


@pytest.mark.parametrize(("seed", "token"), [(0, "the"), (7, "bank"), (2**40, "na\u00efve"), (1, "\U0001f600"), (1, "\ud800"), (3, "")])
def test_a_token_vector_is_what_its_hash_says(seed, token):
    assert_array_equal(token_vectors([token], seed, 5)[0], generator_for(f"{seed}\x1ftoken\x1f{token}").standard_normal(5))


@pytest.mark.parametrize(("seed", "name", "n_rows", "n_columns"), [(0, "w_q", 4, 3), (5, "w_v", 1, 7)])
def test_a_projection_is_what_its_hash_says(seed, name, n_rows, n_columns):
    draw = generator_for("\x1f".join([str(seed), "projection", name, str(n_rows), str(n_columns)])).standard_normal((n_rows, n_columns))
    assert_allclose(projection(seed, name, n_rows, n_columns), draw * n_rows**-0.5, rtol=1e-15)


@given(st.lists(ANY_TOKEN, min_size=1, max_size=6), ANY_TOKEN, st.data())
@example(["to", "be", "to"], "\ud800", None)
def test_editing_one_word_changes_that_vector_alone(tokens, word, data):
    place = data.draw(st.integers(0, len(tokens) - 1)) if data else 1
    edited = [*tokens[:place], word, *tokens[place + 1:]]
    before, after = token_vectors(tokens, 0, 4), token_vectors(edited, 0, 4)
    for t, (old, new) in enumerate(zip(tokens, edited)):
        assert (before[t] == after[t]).all() == (old == new)


@given(st.lists(ANY_TOKEN, max_size=6))
def test_equal_words_have_equal_vectors_and_others_do_not(tokens):
    x = token_vectors(tokens, 0, 4)
    assert x.shape == (len(tokens), 4)
    assert np.isfinite(x).all()
    for i, one in enumerate(tokens):
        for j, other in enumerate(tokens):
            assert (x[i] == x[j]).all() == (one == other)


def test_texts_that_look_alike_are_different_words():
    tokens = ["\u00e9", "e\u0301", "The", "the", "the ", "\ud83d\ude00", "\U0001f600", ""]
    assert len({row.tobytes() for row in token_vectors(tokens, 0, 4)}) == len(tokens)


def test_a_word_has_the_same_vector_wherever_it_stands_and_however_long_the_sentence():
    assert_array_equal(token_vectors(["a", "b", "c"], 3, 4)[2], token_vectors(["c"], 3, 4)[0])


def test_every_part_of_the_name_counts():
    draws = [child_rng(*name).random() for name in [(0,), (1,), (0, "a"), (1, "a"), (0, "b"), (0, "a", "b"), (0, "ab"), (0, "b", "a")]]
    assert len(set(draws)) == len(draws)
    assert child_rng(0, "a").random() == child_rng(0, "a").random() == child_rng(np.int64(0), "a").random()


def test_different_seeds_names_and_sizes_draw_different_projections():
    drawn = [projection(*key) for key in [(0, "w_q", 4, 4), (1, "w_q", 4, 4), (0, "w_k", 4, 4), (0, "w_q", 4, 8), (0, "w_q", 8, 4)]]
    assert len({w[0, :4].tobytes() for w in drawn}) == len(drawn)
    assert_array_equal(projection(0, "w_q", 4, 4), drawn[0])
    assert (token_vectors(["a"], 0, 4) != token_vectors(["a"], 1, 4)).all()


@pytest.mark.parametrize("n_rows", [16, 100, 400])
def test_a_projection_keeps_the_size_of_what_it_projects(n_rows):
    """Entries have variance 1/n_rows, so that entries of variance 1 come out with variance 1."""
    w = projection(0, "w_q", n_rows, 2000)
    assert w.var() == pytest.approx(1 / n_rows, rel=0.05)
    assert w.mean() == pytest.approx(0, abs=4 / np.sqrt(w.size * n_rows))


def test_token_vectors_have_mean_0_and_variance_1():
    x = token_vectors([str(i) for i in range(200)], 0, 100)
    assert x.var() == pytest.approx(1, rel=0.05)
    assert x.mean() == pytest.approx(0, abs=4 / np.sqrt(x.size))


def test_projections_are_read_only():
    w = projection(0, "w_q", 2, 2)
    with pytest.raises(ValueError, match="read-only"):
        w[0, 0] = 1


def test_the_global_random_state_is_neither_used_nor_moved():
    state = np.random.get_state()  # noqa: NPY002  the legacy global state is what must stay as it is
    first = token_vectors(["a"], 0, 3), projection(0, "w", 2, 2)
    assert all(np.array_equal(a, b) for a, b in zip(state, np.random.get_state()))  # noqa: NPY002  as above
    np.random.random()  # noqa: NPY002  move it, then draw again
    assert all(np.array_equal(a, b) for a, b in zip(first, (token_vectors(["a"], 0, 3), projection(0, "w", 2, 2))))
    np.random.set_state(state)  # noqa: NPY002  leave it as it was


def test_no_tokens_give_no_rows():
    assert token_vectors([], 0, 3).shape == (0, 3)


# ---------------------------------------------------------------------------------------------------- whole parameters


def test_the_matrices_of_a_block_have_the_shapes_that_a_block_takes_and_their_own_seeds():
    params = draws.block_params(3, 0, 8, 24, gated=True)
    assert {name: array.shape for name, array in params["attention"].items()} == {"w_qkv": (8, 24), "w_o": (8, 8)}
    assert {name: array.shape for name, array in params["feed_forward"].items()} == {"w_in": (8, 24), "w_out": (24, 8), "w_gate": (8, 24)}
    assert "w_gate" not in draws.block_params(3, 0, 8, 24)["feed_forward"]
    numbers = [draws.block_params(seed, layer, 8, 24)["attention"]["w_o"][0, 0] for seed in (3, 4) for layer in (0, 1)]
    assert len(set(numbers)) == 4 and numbers[0] == params["attention"]["w_o"][0, 0]
    assert not np.array_equal(params["feed_forward"]["w_in"], params["feed_forward"]["w_gate"])


def test_the_spread_of_a_blocks_matrices_keeps_the_size_of_what_they_are_given():
    params = draws.block_params(0, 0, 64, 256)
    assert params["feed_forward"]["w_in"].std() == pytest.approx(1 / 8, rel=0.02)
    assert params["feed_forward"]["w_out"].std() == pytest.approx(1 / 16, rel=0.02)


def test_a_table_times_the_root_of_its_width_has_entries_of_size_one_and_a_row_for_each_token():
    vocabulary = [f"w{i}" for i in range(50)]
    table = draws.embedding_table(vocabulary, 0, 64)
    assert table.shape == (50, 64) and (table * 8).std() == pytest.approx(1, rel=0.02)
    assert np.array_equal(draws.embedding_table(["w7"], 0, 64)[0], table[7])  # a token's row depends on the token alone


def test_an_encoder_decoder_gets_its_layers_and_no_two_matrices_are_the_same():
    params = draws.encoder_decoder_params(0, ["a", "b"], 4, 8, 2)
    assert params["w_embed"].shape == (2, 4) and len(params["encoder"]) == len(params["decoder"]) == 2
    parts = [layer["attention"] for layer in params["encoder"]]
    parts += [layer[name] for layer in params["decoder"] for name in ("self_attention", "cross_attention")]
    assert len({part["w_qkv"][0, 0] for part in parts}) == 6
    fed = [layer["feed_forward"]["w_in"][0, 0] for layer in (*params["encoder"], *params["decoder"])]
    assert len(set(fed)) == 4
