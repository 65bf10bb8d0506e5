"""The policies that are evaluated in Gymnasium's environments."""

import numpy as np
import pytest

from colk.rl import rollout
from colk_lab.reproduction.policy import push_along, swing_up


@pytest.mark.parametrize(
    ("name", "policy"),
    [("Pendulum-v1", swing_up), ("MountainCarContinuous-v0", push_along)],
)
def test_seeds_decide_everything(name, policy):
    first, again = (rollout(name, policy(3), 50, seed=1) for _ in range(2))
    other = rollout(name, policy(4), 50, seed=1)
    np.testing.assert_array_equal(first.next_states, again.next_states)
    assert (first.next_states != other.next_states).any()


def test_the_policies_do_what_they_are_for():
    car = rollout("MountainCarContinuous-v0", push_along(0), 400)
    assert car.terminated.sum() >= 2
    pendulum = rollout("Pendulum-v1", swing_up(0), 200)
    assert pendulum.states[-20:, 0].min() > 0.9
