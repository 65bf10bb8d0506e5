"""Policy evaluation: learn the value function of a continuous MDP in an RKHS."""

from colk.rl.base import ValueLearner
from colk.rl.baselines import TDC, KernelTD, ResidualGradient
from colk.rl.environments import PolicyEvaluation, evaluate_policy, held_out_values, rollout
from colk.rl.evaluator import PolicyEvaluator
from colk.rl.lstd import kernel_lstd
from colk.rl.mdp import MDP, DoubleWell, LinearQuadratic, simulate
from colk.rl.monte_carlo import (
    Agreement,
    MonteCarloValues,
    agreement,
    horizon_of,
    monte_carlo_values,
)
from colk.rl.recursive import KernelLSTD
from colk.rl.trace import PolicyTrace
from colk.rl.transitions import Transitions

__all__ = [
    "MDP",
    "TDC",
    "Agreement",
    "DoubleWell",
    "KernelLSTD",
    "KernelTD",
    "LinearQuadratic",
    "MonteCarloValues",
    "PolicyEvaluation",
    "PolicyEvaluator",
    "PolicyTrace",
    "ResidualGradient",
    "Transitions",
    "ValueLearner",
    "agreement",
    "evaluate_policy",
    "held_out_values",
    "horizon_of",
    "kernel_lstd",
    "monte_carlo_values",
    "rollout",
    "simulate",
]
