"""The libraries that are compared, behind one face: `fit`, and `predict` that scores can judge.

Each is given categories as its documentation recommends:

| | columns of pandas' category dtype |
|---|---|
| hedgerow | as they are |
| LightGBM | as they are |
| XGBoost | as they are, enable_categorical=True |
| scikit-learn | categorical_features="from_dtype", which has a limit of 255 categories; columns with more go through its TargetEncoder, as in its example of target encoders |
| CatBoost | cat_features, as strings; a missing category is a category of its own |
| constant | not looked at: the share of each class, the mean, the quantile |
"""  # noqa: E501  a row of a table

import hashlib
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder
from threadpoolctl import threadpool_limits

import hedgerow
from benchmarks.records import ROOT

MOST_CATEGORIES = 255  # of scikit-learn


class Loss(NamedTuple):
    """What is minimised: "log_loss", "squared_error", "absolute_error" or "quantile"."""

    name: str
    level: float = 0.5  # of a quantile

    @property
    def of_classes(self) -> bool:
        return self.name == "log_loss"

    def __str__(self) -> str:
        return f"quantile {self.level}" if self.name == "quantile" else self.name


class Model:
    """An estimator with its way of reading a table; `predict` gives probabilities of classes."""

    def __init__(self, estimator: Any, loss: Loss) -> None:
        self.estimator, self.loss = estimator, loss

    def fit(self, X: Any, y: Any) -> "Model":
        """Fit the estimator."""
        self.estimator.fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Return probabilities, or numbers."""
        if self.loss.of_classes:
            return self.estimator.predict_proba(X)
        return self.estimator.predict(X)


class ScikitLearn(Model):
    """Columns of too many categories become numbers; the threads are those of OpenMP."""

    def __init__(self, estimator: Any, loss: Loss, threads: int) -> None:
        super().__init__(estimator, loss)
        self.bare, self.threads = estimator, threads

    def fit(self, X: Any, y: Any) -> Model:
        """Fit the estimator, behind an encoder if a column needs it."""
        many = [name for name in categorical(X) if X[name].nunique() > MOST_CATEGORIES]
        if many:
            kind = "auto" if self.loss.of_classes else "continuous"
            encoder = TargetEncoder(target_type=kind, random_state=0)
            columns = make_column_transformer(
                (encoder, many), remainder="passthrough", verbose_feature_names_out=False
            )
            self.estimator = make_pipeline(columns.set_output(transform="pandas"), self.bare)
        with threadpool_limits(self.threads):
            return super().fit(X, y)

    def predict(self, X: Any) -> Any:
        """Return probabilities, or numbers."""
        with threadpool_limits(self.threads):
            return super().predict(X)


class CatBoost(Model):
    """Categories become strings; the threads of prediction are asked for each time."""

    def fit(self, X: Any, y: Any) -> Model:
        """Fit the estimator and tell it which columns are categories."""
        self.estimator.fit(strings(X), y, cat_features=categorical(X))
        return self

    def predict(self, X: Any) -> Any:
        """Return probabilities, or numbers."""
        estimator, threads = self.estimator, self.estimator.get_param("thread_count")
        predict = estimator.predict_proba if self.loss.of_classes else estimator.predict
        return predict(strings(X), thread_count=threads)


def categorical(X: Any) -> list[str]:
    """Return the names of the columns of categories."""
    if not isinstance(X, pd.DataFrame):
        return []
    return [name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]


def strings(X: Any) -> Any:
    """Return the table with its categories as strings, and "missing" for one that is missing."""
    names = categorical(X)
    if not names:
        return X
    texts = {name: X[name].astype(object).where(X[name].notna(), "missing") for name in names}
    return X.assign(**{name: text.astype(str) for name, text in texts.items()})


def of_hedgerow(loss: Loss, threads: int, **parameters: Any) -> Model:
    shared = {"n_jobs": threads, "random_state": 0, "loss": loss.name} | parameters
    if loss.of_classes:
        return Model(hedgerow.GradientBoostingClassifier(**shared), loss)
    return Model(hedgerow.GradientBoostingRegressor(alpha=loss.level, **shared), loss)


def of_lightgbm(loss: Loss, threads: int, **parameters: Any) -> Model:
    library = import_module("lightgbm")
    shared = {"n_jobs": threads, "random_state": 0, "verbosity": -1} | parameters
    if loss.of_classes:
        return Model(library.LGBMClassifier(**shared), loss)
    names = {"squared_error": "regression", "absolute_error": "regression_l1"}
    objective = names.get(loss.name, loss.name)
    return Model(library.LGBMRegressor(objective=objective, alpha=loss.level, **shared), loss)


def of_xgboost(loss: Loss, threads: int, **parameters: Any) -> Model:
    library = import_module("xgboost")
    shared = {"n_jobs": threads, "random_state": 0, "enable_categorical": True} | parameters
    if loss.of_classes:
        return Model(library.XGBClassifier(**shared), loss)
    names = {"squared_error": "squarederror", "absolute_error": "absoluteerror"}
    shared["objective"] = "reg:" + names.get(loss.name, "quantileerror")
    if loss.name == "quantile":
        shared["quantile_alpha"] = loss.level
    return Model(library.XGBRegressor(**shared), loss)


def of_scikit_learn(loss: Loss, threads: int, **parameters: Any) -> Model:
    shared = {"random_state": 0, "loss": loss.name} | parameters
    if loss.of_classes:
        return ScikitLearn(HistGradientBoostingClassifier(**shared), loss, threads)
    level = loss.level if loss.name == "quantile" else None
    return ScikitLearn(HistGradientBoostingRegressor(quantile=level, **shared), loss, threads)


def of_catboost(loss: Loss, threads: int, **parameters: Any) -> Model:
    library = import_module("catboost")
    shared = {"thread_count": threads, "random_seed": 0, "verbose": False} | parameters
    shared["allow_writing_files"] = False
    if loss.of_classes:
        return CatBoost(library.CatBoostClassifier(**shared), loss)
    names = {"squared_error": "RMSE", "absolute_error": "MAE"}
    name = names.get(loss.name, f"Quantile:alpha={loss.level}")
    return CatBoost(library.CatBoostRegressor(loss_function=name, **shared), loss)


def of_constant(loss: Loss, threads: int) -> Model:  # noqa: ARG001  the libraries' arguments
    if loss.of_classes:
        return Model(DummyClassifier(strategy="prior"), loss)
    if loss.name == "squared_error":
        return Model(DummyRegressor(), loss)
    return Model(DummyRegressor(strategy="quantile", quantile=loss.level), loss)


LIBRARIES: dict[str, Callable[..., Model]] = {
    "hedgerow": of_hedgerow,
    "LightGBM": of_lightgbm,
    "XGBoost": of_xgboost,
    "scikit-learn": of_scikit_learn,
    "CatBoost": of_catboost,
    "constant": of_constant,
}


def version_of(library: str) -> str | None:
    """Return a library's version, of hedgerow a digest of its source; None: it is not there."""
    if library == "hedgerow":
        files = sorted((ROOT / "hedgerow").rglob("*.py"))
        return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    try:
        return version("scikit-learn" if library == "constant" else library.lower())
    except PackageNotFoundError:
        return None
