"""The data of the package equal their sources."""

import hashlib
import re
from importlib import resources

import numpy as np
import pytest

from colk.data import load_bike_frame, load_bike_rentals, load_lidar


def test_lidar_is_the_file_that_its_note_describes():
    home = resources.files("colk.data")
    note = home.joinpath("lidar.md").read_text(encoding="utf-8")
    digest = hashlib.md5(home.joinpath("lidar.csv").read_bytes()).hexdigest()
    assert re.search(r"md5 of `lidar.csv`: (\w+)", note)[1] == digest


def test_lidar_values():
    distance, log_ratio = load_lidar()
    assert distance.shape == log_ratio.shape == (221,)
    assert (np.diff(distance) > 0).all()
    assert log_ratio.min() == -0.9495535
    assert log_ratio.max() == 0.02690717


def test_bike_rentals_are_whole_and_in_order():
    samples = load_bike_rentals()
    assert len(samples) == 8645
    assert sum(count for _, count in samples) == 1243103
    assert {len(features) for features, _ in samples} == {11}
    months = [features["mnth"] for features, _ in samples]
    assert months == sorted(months)


def test_the_dates_of_the_frame_are_those_of_the_file():
    pytest.importorskip("pandas")
    frame, samples = load_bike_frame(), load_bike_rentals()
    assert frame.rentals.tolist() == [count for _, count in samples]
    for name, found in (("mnth", frame.when.dt.month), ("hr", frame.when.dt.hour)):
        assert found.tolist() == [features[name] for features, _ in samples]
    weekdays = (frame.when.dt.day_of_week + 1) % 7  # the file counts from Sunday
    assert weekdays.tolist() == [features["weekday"] for features, _ in samples]
    assert frame.when.is_monotonic_increasing
    assert frame.when.is_unique
