"""Fitting a discount with Optuna: common random numbers, and a judgement on other seeds.

How long evidence should count is searched on a logarithmic scale, by Optuna's usual sampler. Every trial plays the same
runs of the same seeds, so that two half-lives meet the same worlds and the better one shows with few runs; a trial that
is behind the median of the others after some of the seeds is given up. What was best on these runs is flattered by
having been chosen on them: so it is judged on a seed that nobody looked at, beside Thompson sampling, which never
forgets, and the drift filter, which has to be told nothing.

Run it with: python examples/fitted_discount.py     (it needs Optuna: pip install optuna)
"""

from typing import Any

import optuna

import driftbandit as db

ENVIRONMENT, HORIZON = db.Brownian(volatility=0.03), 1000
SHORTEST, LONGEST = 2.0, 2000.0
"""Half-lives, in steps."""
FITTING_SEEDS, FITTING_RUNS = (1, 2, 3, 4), 100
"""Seeds of the parts that a trial plays, and runs of each."""
JUDGING_SEED, JUDGING_RUNS = 5, 1000
TRIALS = 40


def policy_of(half_life: float) -> db.DiscountedThompsonSampling:
    """Discounted Thompson sampling whose evidence counts half after so many steps."""
    return db.DiscountedThompsonSampling.tuned(half_life=half_life)


def objective(trial: optuna.Trial) -> float:
    """The regret of a half-life, by the same runs in every trial."""
    policy = policy_of(trial.suggest_float("half_life", SHORTEST, LONGEST, log=True))
    total = 0.0
    for part, seed in enumerate(FITTING_SEEDS):
        result = db.simulate(policy, ENVIRONMENT, horizon=HORIZON, runs=FITTING_RUNS, seed=seed, progress=False)
        total += result.normalized_regret[str(policy)].mean
        trial.report(total / (part + 1), part)
        if trial.should_prune():
            raise optuna.TrialPruned
    return total / len(FITTING_SEEDS)


def run(trials: int = TRIALS, judging_runs: int = JUDGING_RUNS) -> dict[str, Any]:
    """Fit, then judge; what was found is returned."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=0), pruner=optuna.pruners.MedianPruner(n_startup_trials=8)
    )
    study.optimize(objective, n_trials=trials)
    fitted = policy_of(study.best_params["half_life"])
    policies = [fitted, db.ThompsonSampling(), db.DriftFilter()]
    judged = db.simulate(
        policies, ENVIRONMENT, horizon=HORIZON, runs=judging_runs, seed=JUDGING_SEED, progress=False
    )  # fmt: skip
    return {"study": study, "fitted": str(fitted), "judged": judged}


def main() -> None:
    """Print what was found."""
    found = run()
    study, fitted, judged = found["study"], found["fitted"], found["judged"]
    given_up = sum(trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials)
    print(f"{len(study.trials)} trials, {given_up} of them given up early")
    print(
        f"best half-life: {study.best_params['half_life']:.1f} steps, regret {study.best_value:.4f} where it was fitted"
    )
    print(f"\njudged on another seed\n{judged.normalized_regret}")
    for other in judged.policies[1:]:
        print(f"{fitted} less {other}: {judged.difference(fitted, other)}")


if __name__ == "__main__":
    main()
