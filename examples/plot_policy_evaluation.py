"""Policy evaluation
=================

Learn the value function of a fixed policy for Gymnasium's pendulum from transitions, and compare it
with rollouts from held-out states.
"""

import matplotlib.pyplot as plt
import numpy as np

from colk.kernels import Gaussian
from colk.rl import PolicyEvaluator, evaluate_policy


def policy(observation):
    """Push in the direction of the movement."""
    return [2.0 if observation[2] > 0 else -2.0]


# Observations are (cos, sin, speed): one bandwidth for each.
learner = PolicyEvaluator(Gaussian((0.5, 0.5, 2.0)), discount=0.8, step_size=0.3)
found = evaluate_policy(
    "Pendulum-v1", policy, learner, n_transitions=40_000, n_held_out=60, n_rollouts=2
)
print(found.agreement)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
angle, speed = np.meshgrid(np.linspace(-np.pi, np.pi, 80), np.linspace(-6, 6, 80))
states = np.column_stack([np.cos(angle.ravel()), np.sin(angle.ravel()), speed.ravel()])
drawn = left.pcolormesh(angle, speed, learner.value(states).reshape(angle.shape), shading="auto")
figure.colorbar(drawn, ax=left, label="learned value")
left.set(xlabel="angle, 0 is upright", ylabel="speed", title=f"{learner.n_atoms} atoms")
truth, learned = found.monte_carlo.mean, learner.value(found.monte_carlo.states)
right.plot([truth.min(), 0], [truth.min(), 0], ":", color="0.5")
right.plot(truth, learned, ".")
right.set(xlabel="value of rollouts", ylabel="learned value", title="held-out states")
plt.show()
