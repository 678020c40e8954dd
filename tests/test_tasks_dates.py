"""Dates as texts: every form says its date, the held-out ones never come, the places hold what is written."""

import datetime

import numpy as np
import pytest

from core import tasks_dates as task


@pytest.mark.parametrize("form", range(len(task.FORMS)))
def test_every_form_is_read_as_the_date_it_was_written_from(form):
    for day in (datetime.date(1998, 3, 1), datetime.date(2000, 2, 29), datetime.date(2021, 9, 22), datetime.date(1066, 10, 14)):
        reading = task.read(task.written(day.year, day.month, day.day, form))
        assert reading.iso == day.isoformat()
        assert len(task.written(2999, 9, 22, form)) <= task.N_SOURCES


def test_dates_written_by_hand():
    for text, iso in (("12 march 1998", "1998-03-12"), ("the 1st of may 2003", "2003-05-01"), ("jun 3, 1700", "1700-06-03"),
                      ("december 31st, 1999", "1999-12-31"), ("1805 october 21", "1805-10-21"), ("23rd sep 1234", "1234-09-23")):
        assert task.read(text).iso == iso
    for text in ("31 february 1998", "29 feb 1900", "march 1998", "12 marc 1998", "12.3.1998", "0 may 1998", "", "1 may 0000"):
        assert task.read(text) is None


def test_training_and_fresh_dates_do_not_meet_and_a_tenth_is_held_out():
    def drawn(seed, fresh):
        dates = task.draw(np.random.default_rng(seed), 3000, fresh=fresh)
        assert [task.read(task.text_of(ids)).iso for ids in dates.source_ids] == [task.text_of(ids) for ids in dates.targets]
        return {task.text_of(ids) for ids in dates.targets}

    one, other = drawn(0, False), drawn(1, True)
    assert not one & other and len(one) > 2900 and len(other) > 2500
    whole = [task.held_out(1000 + number // 372, number // 31 % 12 + 1, number % 31 + 1) for number in range(372 * 2000)]
    assert abs(np.mean(whole) - 0.1) < 0.001
    assert all(0.05 < np.mean(whole[372 * year:372 * year + 372 * 20]) < 0.15 for year in range(0, 2000, 20))


def test_the_decoder_reads_one_character_behind_what_it_writes():
    dates = task.draw(np.random.default_rng(2), 40)
    assert dates.targets.shape == dates.target_ids.shape == (40, 10)
    assert (dates.target_ids[:, 1:] == dates.targets[:, :-1]).all() and (dates.target_ids[:, 0] == task.VOCABULARY.index("<start>")).all()
    assert ((dates.source_ids == 0).sum(axis=1) > 0).any()


def test_the_places_hold_what_is_written_there():
    dates = task.draw(np.random.default_rng(3), 200)
    for ids, iso, places in zip(dates.source_ids, dates.targets, task.looks_at(dates), strict=True):
        written, answer = task.text_of(ids), task.text_of(iso)
        spoken = ["".join(written[i] for i in np.flatnonzero(row)) for row in places]
        assert "".join(spoken[:4]) == answer[:4] and spoken[4] == spoken[7] == "" and spoken[9] == answer[9]
        assert spoken[5] == spoken[6] and spoken[5][:3] == task.MONTHS[int(answer[5:7]) - 1][:3]
        assert spoken[8] == (answer[8] if answer[8] != "0" else answer[9])


def test_texts_that_can_not_be_read_get_a_sentence():
    for text, words in (("", "write a date"), ("1" * 27, "at most 26 characters; this text has 27"),
                        ("12/3/1998", r"place 3 \(of 9\) is none"), ("märz", "place 2"), ("·", "place 1"), ("<start>", "place 1")):
        with pytest.raises(ValueError, match=words):
            task.encode(text)
