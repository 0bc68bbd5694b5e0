"""A tree on census data that tells who earns more than 50,000 dollars a year.

Run it with `make demo`. It trains, prunes by cross-validation, shows what was learned, and
checks that the model does not depend on the order of the rows.
"""

import time
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from hedgerow import DecisionTreeClassifier, export_text, plot_tree

DATA = Path(__file__).parent / "data" / "adult.parquet"
PICTURE = Path("demo_tree.png")
ABOVE = ">50K"
BAR_WIDTH = 40

console = Console(highlight=False)


def main() -> None:
    """Train on three quarters of the table and tell what happened."""
    people = pd.read_parquet(DATA)
    X, y = people.drop(columns="income"), people["income"].map({0: "<=50K", 1: ABOVE})
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    show_table(X, y)

    console.rule("Training")
    _, first_seconds = fitted(X_train[:500], y_train[:500], ccp_alpha="cv")
    full, full_seconds = fitted(X_train, y_train, ccp_alpha=0.0)
    model, seconds = fitted(X_train, y_train, ccp_alpha="cv")
    console.print(
        f"Getting the kernels ready (compiled once, then kept on disk): {first_seconds:.1f} s.\n"
        f"The full tree of {len(X_train):,} rows: {full_seconds:.2f} s. "
        f"Grown, cross-validated and pruned: {seconds:.2f} s.\n"
        f"Pruning offers {len(model.ccp_path_.ccp_alphas):,} trees, from {full.get_n_leaves():,} "
        f"leaves to 1; cross-validation in {model.ccp_folds} folds chose {model.get_n_leaves()}."
    )

    console.rule(f"{len(X_test):,} rows that were held out")
    constant = (y_train == ABOVE).mean()
    show_scores(constant, {"full tree": full, "pruned tree": model}, X_test, y_test == ABOVE)
    console.rule("What mattered: shares of the impurity that the pruned tree removes")
    show_importances(model)
    console.rule("The top of the tree")
    console.print(export_text(model, max_depth=2), markup=False, soft_wrap=True)

    console.rule("Does the order of the rows matter, or the number of threads?")
    shuffled = np.random.default_rng(7).permutation(len(X_train))
    X_again, y_again = X_train.iloc[shuffled], y_train.iloc[shuffled]
    again, _ = fitted(X_again, y_again, ccp_alpha="cv", n_jobs=1)
    console.print(f"as given              {model.fingerprint_}", soft_wrap=True)
    console.print(f"shuffled, one thread  {again.fingerprint_}", soft_wrap=True)
    if again.fingerprint_ != model.fingerprint_:
        raise SystemExit("The fingerprints differ: this is a bug, please report it.")
    console.print("The fingerprints agree: the same model, bit for bit.")

    save_picture(model)
    console.print(f"\nThe tree as a picture: [bold]{PICTURE.resolve()}[/bold]", soft_wrap=True)


def fitted(X: pd.DataFrame, y: pd.Series, **parameters) -> tuple[DecisionTreeClassifier, float]:
    """Return a fitted tree and the seconds it took."""
    start = time.perf_counter()
    model = DecisionTreeClassifier(**parameters).fit(X, y)
    return model, time.perf_counter() - start


def show_table(X: pd.DataFrame, y: pd.Series) -> None:
    """Say what the table holds, as the model will find it."""
    text = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    gaps = {name: count for name, count in X.isna().sum().items() if count}
    console.rule("The census of 1994")
    share = (y == ABOVE).mean()
    console.print(f"{len(X):,} persons, {X.shape[1]} columns; {share:.1%} earn above 50,000.")
    console.print(f"Text, taken as categories: {', '.join(text)}")
    missing = ", ".join(f"{name} ({count:,})" for name, count in gaps.items())
    console.print(f"With values missing: {missing}")
    console.print("All found without asking: nothing is encoded, filled in or dropped.")


def show_scores(share: float, models: dict, X: pd.DataFrame, y: pd.Series) -> None:
    """Compare the models with the constant prediction `share`; y is True for those above."""
    scores = Table("", "leaves", "depth", "accuracy", "log-loss", "AUC", box=None)
    for column in scores.columns[1:]:
        column.justify = "right"
    rows = {"always the average": (1, 0, np.full(len(y), share))}
    for name, model in models.items():
        p = model.predict_proba(X)[:, list(model.classes_).index(ABOVE)]
        rows[name] = (model.get_n_leaves(), model.get_depth(), p)
    for name, (leaves, depth, p) in rows.items():
        accuracy, loss, auc = accuracy_score(y, p > 0.5), log_loss(y, p), roc_auc_score(y, p)
        scores.add_row(
            name, f"{leaves:,}", f"{depth}", f"{accuracy:.1%}", f"{loss:.3f}", f"{auc:.3f}"
        )
    console.print(scores)


def show_importances(model: DecisionTreeClassifier) -> None:
    """Draw the six most important features as bars."""
    largest = model.feature_importances_.max()
    for feature in np.argsort(-model.feature_importances_, kind="stable")[:6]:
        share = model.feature_importances_[feature]
        bar = "█" * max(1, round(BAR_WIDTH * share / largest))
        console.print(f"{model.feature_names_in_[feature]:>16}  [green]{bar}[/green] {share:.1%}")


def save_picture(model: DecisionTreeClassifier) -> None:
    """Draw the top of the tree to a file, without a screen."""
    figure = FigureCanvasAgg(Figure(figsize=(16, 8))).figure
    plot_tree(model, max_depth=3, ax=figure.add_axes((0.0, 0.0, 1.0, 1.0)))
    figure.savefig(PICTURE, dpi=120)


if __name__ == "__main__":
    main()
