"""scikit-learn shells: check what the user gave, translate, call, keep the result.

There is no algorithm here. Errors are raised here, once, before any work; the rooms below
assert. A fit that fails leaves the estimator as it was.
"""

from hedgerow.estimators.postponed import postponed

_OF_NARWHALS = "narwhals", "narwhals.stable", "narwhals.stable.v2"
_OF_NUMPY = "numpy.f2py", "numpy.testing"

with postponed("scipy.stats", "scipy.special", "pandas", *_OF_NARWHALS, *_OF_NUMPY):
    import sklearn.base  # noqa: F401  nothing of it, only without what it would import
