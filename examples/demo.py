"""The main job on census data: telling who earns more than 50,000 dollars a year.

Run it with `make demo`. It trains boosting, judges it by rows that were held out, compares it
with a forest and AdaBoost, saves it, loads it, predicts and explains.
"""

import time
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

import hedgerow

DATA = Path(__file__).parent / "data" / "adult.parquet"
SAVED = Path("demo.hedgerow")
PREDICTED = Path("demo_predictions.csv")
ABOVE = ">50K"
BAR_WIDTH = 30
MODELS = {
    "boosting": hedgerow.GradientBoostingClassifier(early_stopping=True),
    "forest": hedgerow.RandomForestClassifier(min_samples_leaf=3),
    "AdaBoost": hedgerow.AdaBoostClassifier(n_estimators=200, algorithm="real"),
}

console = Console(highlight=False)


def main() -> None:
    """Train on three quarters of the table and tell what happened."""
    people = pd.read_parquet(DATA)
    X, y = people.drop(columns="income"), people["income"].map({0: "<=50K", 1: ABOVE})
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    show_table(X, y)

    console.rule("Training")
    start = time.perf_counter()
    for model in MODELS.values():
        model.fit(X_train[:300], y_train[:300]).predict_proba(X_test[:9])
    seconds = time.perf_counter() - start
    console.print(f"Getting kernels ready (compiled once, then kept on disk): {seconds:.1f} s.")
    times = {name: seconds_to_fit(model, X_train, y_train) for name, model in MODELS.items()}
    boosting = MODELS["boosting"]
    losses = boosting.validation_losses_
    console.print(
        f"Boosting, {len(X_train):,} rows: {times['boosting']:.1f} s. The loss of a tenth that it "
        f"set aside fell from {losses[0]:.3f} to {losses.min():.3f}\nin "
        f"{boosting.n_estimators_} rounds; as {len(losses) - 1 - boosting.n_estimators_} more did "
        "not lower it, it stopped there."
    )

    console.rule(f"{len(X_test):,} persons that no model has seen")
    show_scores((y_train == ABOVE).mean(), times, X_test, y_test == ABOVE)

    console.rule("Saved, loaded, asked again")
    boosting.save(SAVED)
    loaded = hedgerow.load(SAVED)
    answers = pd.DataFrame(loaded.predict_proba(X_test), columns=loaded.classes_)
    answers.to_csv(PREDICTED, index=False)
    if not np.array_equal(answers, boosting.predict_proba(X_test)):
        raise SystemExit("The loaded model predicts something else: this is a bug, please report.")
    console.print(
        f"{SAVED}: {SAVED.stat().st_size:,} bytes, no pickle; the same predictions, bit for bit.\n"
        f"{PREDICTED}: probabilities of {len(answers):,} persons."
    )

    console.rule("Why?")
    show_importances(loaded)
    show_person(loaded, X_test, answers[ABOVE].to_numpy())

    console.rule("The same without Python")
    for line in (
        "hedgerow train examples/data/adult.parquet --target income -o census.hedgerow",
        "hedgerow compare examples/data/adult.parquet --target income",
        "hedgerow predict census.hedgerow examples/data/adult.parquet -o predictions.csv",
        "hedgerow explain census.hedgerow examples/data/adult.parquet --row 1",
    ):
        console.print(f"  {line}", soft_wrap=True)


def seconds_to_fit(model, X: pd.DataFrame, y: pd.Series) -> float:
    """Fit a model and return how long it took."""
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def show_table(X: pd.DataFrame, y: pd.Series) -> None:
    """Say what the table holds, as the models will find it."""
    text = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    gaps = {name: count for name, count in X.isna().sum().items() if count}
    console.rule("The census of 1994")
    share = (y == ABOVE).mean()
    console.print(f"{len(X):,} persons, {X.shape[1]} columns; {share:.1%} earn above 50,000.")
    console.print(f"Text, taken as categories: {', '.join(text)}")
    missing = ", ".join(f"{name} ({count:,})" for name, count in gaps.items())
    console.print(f"With values missing: {missing}")
    console.print("All found without asking: nothing is encoded, filled in or dropped.")


def show_scores(share: float, times: dict, X: pd.DataFrame, y: pd.Series) -> None:
    """Compare the models with the constant prediction `share`; y is True for those above."""
    scores = Table("", "accuracy", "log-loss", "AUC", "seconds", box=None)
    for column in scores.columns[1:]:
        column.justify = "right"
    rows = {"always the average": np.full(len(y), share)}
    for name, model in MODELS.items():
        rows[name] = model.predict_proba(X)[:, list(model.classes_).index(ABOVE)]
    for name, p in rows.items():
        accuracy, loss, auc = accuracy_score(y, p > 0.5), log_loss(y, p), roc_auc_score(y, p)
        seconds = f"{times[name]:.1f}" if name in times else ""
        scores.add_row(name, f"{accuracy:.1%}", f"{loss:.4f}", f"{auc:.4f}", seconds)
    console.print(scores)
    error = np.sqrt(accuracy * (1 - accuracy) / len(y))
    console.print(f"The standard error of such an accuracy, of so many persons, is {error:.1%}.")


def show_importances(model) -> None:
    """Draw the six most important features as bars."""
    console.print("What took most off the loss, in shares:")
    largest = model.feature_importances_.max()
    for feature in np.argsort(-model.feature_importances_, kind="stable")[:6]:
        share = model.feature_importances_[feature]
        bar = "█" * max(1, round(BAR_WIDTH * share / largest))
        console.print(f"{model.feature_names_in_[feature]:>16}  [green]{bar}[/green] {share:.1%}")


def show_person(model, X: pd.DataFrame, p: np.ndarray) -> None:
    """Explain the prediction that is nearest to a coin toss, by exact Shapley values."""
    row = int(np.argmin(np.abs(p - 0.5)))
    person = X.iloc[[row]]
    values, start = model.shap_values(person)[0], float(model.expected_value())
    console.print(
        f"\nThe closest call of all: a person with probability {p[row]:.1%} of "
        f"earning above 50,000.\nLog-odds begin with {start:+.2f}, that of anybody, and then"
    )
    order = np.argsort(-np.abs(values), kind="stable")
    for feature in order[:7]:
        what = f"{X.columns[feature]} = {person.iloc[0, feature]}"
        console.print(f"{values[feature]:>+8.2f}  {what}", markup=False)
    console.print(f"{values[order[7:]].sum():>+8.2f}  all others")
    console.print(f"{start + values.sum():>+8.2f}  together: exactly what the model adds up")


if __name__ == "__main__":
    main()
