"""Nearest prototypes: accuracy on test rows under three budgets, beside float32 prototypes of the same number."""

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Case, Config, LeftOut, Part, Result

SETS = ("digits", "letter", "usps", "optdigits", "spambase", "wisdm_ar", "shuttle")
BUDGETS = ("1kB", "2kB", "8kB")


def accuracy(config: Config) -> Result:
    """The mean over seeds 0, 1, ...; the float32 rival has as many prototypes, each of 4 bytes a feature."""
    from smidgen import PrototypeClassifier, load_dataset
    from smidgen.data import list_datasets
    from smidgen.errors import BudgetError

    if config["set"] not in list_datasets():
        raise LeftOut(f"there is no {config['set']}.npz in a folder that SMIDGEN_DATA names")
    rows = load_dataset(config["set"])
    found = []
    for seed in range(config["seeds"]):
        try:
            ours = PrototypeClassifier(budget=config["budget"], random_state=seed).fit(rows.X_train, rows.y_train)
        except BudgetError as refusal:
            raise LeftOut(str(refusal)) from None
        number = len(ours.prototypes_)
        rival = PrototypeClassifier(number, weight_format="float32", random_state=seed).fit(rows.X_train, rows.y_train)
        scores = [model.score(rows.X_test, rows.y_test) for model in (ours, rival)]
        found.append((*scores, ours.program_.cost().model_bytes, rival.program_.cost().model_bytes, number))
    ours, rival, n_bytes, rival_bytes, number = np.mean(found, axis=0)
    return {
        "accuracy %": 100 * float(ours),
        "bytes": round(n_bytes),
        "prototypes": round(number),
        "float32 accuracy %": 100 * float(rival),
        "float32 bytes": round(rival_bytes),
    }


def cases() -> Iterator[Case]:
    for name in SETS:
        for budget in BUDGETS:
            config = {"set": name, "budget": budget, "seeds": 3}
            modules = ("smidgen.PrototypeClassifier", "smidgen.load_dataset")
            yield Case("Test rows, mean of the seeds", config, accuracy, modules)


PROTOTYPES = Part(
    "prototypes",
    "PrototypeClassifier under a budget, beside as many prototypes in float32. All sets but digits lie in the folder"
    " that `$SMIDGEN_DATA` names; those that are not there are left out, and so are budgets that nothing can meet.",
    cases,
)
