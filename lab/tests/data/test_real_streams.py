"""Real streams: what the registry says of them, and who may read them."""

import pytest

from colk_lab.data import SETS, STREAMS, FinalSetError, MissingPackage, final_run

FINAL = [name for name, each in STREAMS.items() if each.part == "final"]


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_has_its_size_and_no_gap_but_none(name):
    stream = STREAMS[name]
    with final_run():
        try:
            samples = stream.samples(0, stream.rows + 1)
        except MissingPackage as error:
            pytest.skip(str(error))
    assert len(samples) == stream.rows
    x, _ = samples[-1]
    assert all(value is None or value == value for value in x.values())
    assert (len({target for _, target in samples}) <= 26) >= stream.is_classifier


@pytest.mark.parametrize("name", FINAL)
def test_a_final_stream_is_refused_outside_a_final_run(name):
    with pytest.raises(FinalSetError, match="is kept for final tables"):
        STREAMS[name].samples(0, 10)


def test_a_stream_of_a_table_is_in_the_part_of_the_table():
    tables = [each for name, each in STREAMS.items() if "," in name]
    assert len(tables) > 10
    for stream in tables:
        assert stream.part == SETS[stream.family].part


def test_a_drawn_order_depends_on_the_seed():
    stream = STREAMS["yeast, drawn"]
    try:
        first, again, other = (stream.samples(seed, 20) for seed in (0, 0, 1))
    except MissingPackage as error:
        pytest.skip(str(error))
    assert first == again != other


def test_about_half_of_the_free_streams_is_final():
    for is_classifier in (False, True):
        free = [
            each
            for each in STREAMS.values()
            if each.is_classifier is is_classifier and not each.chosen
        ]
        assert 0.4 <= sum(each.part == "final" for each in free) / len(free) <= 0.6


def test_a_lag_is_the_value_that_many_steps_before():
    samples = STREAMS["AirlinePassengers"].samples(0, 200)
    assert samples[0][0]["lag 12"] == 112.0
    assert samples[0][0]["lag 1"] == 118.0
    assert samples[1][0]["lag 1"] == samples[0][1]
