"""A linear policy learns to hold up the pole by the cross-entropy method, in NumPy alone: each round tries policies around a mean, and the
best of them give the next mean. ``python train_cartpole.py ROUNDS``; needs Gymnasium (``pip install './python[gym]'``)."""

from __future__ import annotations

import sys

import numpy as np


def score(env, policy: np.ndarray, seed: int) -> float:
    """Steps for which a policy holds up the pole."""
    observation, _ = env.reset(seed=seed)
    total, is_over = 0.0, False
    while not is_over:
        observation, reward, ended, cut, _ = env.step(int(policy @ observation > 0))
        total, is_over = total + reward, ended or cut
    return total


def train(rounds: int, tried: int = 16, kept: int = 4, seed: int = 1) -> list[float]:
    """Mean scores of the policies that were kept, round by round; ends early when all of them hold the pole to the end."""
    import gymnasium

    import sinew.envs  # noqa: F401 - registers the environments

    env, rng, curve = gymnasium.make("sinew/CartPole-v0"), np.random.default_rng(seed), []
    mean, spread = np.zeros(4), np.ones(4)
    for k in range(rounds):
        policies = mean + spread * rng.normal(size=(tried, 4))
        scores = np.array([score(env, policy, seed=k) for policy in policies])
        best = np.argsort(-scores, kind="stable")[:kept]
        mean, spread = policies[best].mean(axis=0), policies[best].std(axis=0) + 0.1
        curve.append(float(scores[best].mean()))
        print(f"round {k + 1:2}: {curve[-1]:5.0f} of 500 steps  {'#' * round(curve[-1] / 10)}", flush=True)
        if curve[-1] == 500:
            break
    return curve


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else 15
    try:
        train(rounds)
    except ImportError as error:
        print(error)
