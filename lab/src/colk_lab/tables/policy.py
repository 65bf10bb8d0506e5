"""Transitions per second of policy evaluation on one core, compared with a step of Gymnasium.

python -m colk_lab.tables policy
"""

import time
from collections.abc import Callable

from colk.compressors import KOMP
from colk.kernels import Gaussian
from colk.rl import TDC, KernelTD, LinearQuadratic, PolicyEvaluator, ValueLearner, rollout, simulate
from colk_lab.reproduction.policy import ENVIRONMENTS

DISCOUNT = 0.9
CHUNK = 2000
WARM_UP = 20_000
# Model orders to measure; the budget enforces them if eps alone does not.
ORDERS = (10, 25, 50, 100, 200)


def best_time(job: Callable[[], object], repeats: int) -> float:
    """Return the minimum seconds of several runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def rate_at(learner: ValueLearner) -> tuple[int, float]:
    """Return the model order after a warm-up, and the transitions per second after it."""
    transitions = simulate(LinearQuadratic.spiral(2), WARM_UP + CHUNK, seed=0)
    learner.learn(*transitions.part(slice(WARM_UP)))
    chunk = transitions.part(slice(WARM_UP, WARM_UP + CHUNK))
    seconds = best_time(lambda: learner.learn(*chunk), repeats=20)
    return learner.n_atoms, CHUNK / seconds


def environment_rate(name: str, size: int = 1000) -> float:
    """Return the transitions per second of Gymnasium with the policy of the experiment."""
    setting = ENVIRONMENTS[name]
    policy = setting.policy(0)
    return size / best_time(lambda: rollout(setting.environment, policy, size), repeats=10)


def main() -> None:
    print("method                 atoms   transitions/s   µs each")
    for name, make in {"function": PolicyEvaluator, "TDC": TDC, "TD(0)": KernelTD}.items():
        for order in ORDERS:
            compressor = KOMP(eps=1e-3, max_atoms=order)
            atoms, rate = rate_at(make(Gaussian(0.5), DISCOUNT, compressor=compressor))
            print(f"{name:22} {atoms:5d} {rate:15,.0f} {1e6 / rate:9.2f}")
    atoms, rate = rate_at(PolicyEvaluator(Gaussian(0.5), DISCOUNT))
    print(f"{'function, defaults':22} {atoms:5d} {rate:15,.0f} {1e6 / rate:9.2f}")
    for name in ENVIRONMENTS:
        rate = environment_rate(name)
        print(f"{name + ', Gymnasium':28} {rate:15,.0f} {1e6 / rate:9.2f}")


if __name__ == "__main__":
    main()
