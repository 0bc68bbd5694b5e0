"""What can be written down in other languages: texts and numbers, as categories and classes."""

import reprlib
from typing import Any

from hedgerow.export.outline import Feature, Outline

_EXACT_TYPES = (str, bool, int, float)


def demand_writable(outline: Outline) -> None:
    """Raise unless categories and classes are texts and numbers, which every language has."""
    for feature in outline.features:
        _demand(feature.categories or (), f"column {feature.name!r} has the category")
    _demand(outline.classes or (), "there is the class")
    kinds = {str if isinstance(name, str) else float for name in outline.classes or ()}
    if len(kinds) > 1:
        raise ValueError(
            f"Classes {reprlib.repr(outline.classes)} are texts and numbers, and exported models "
            "have one kind. Convert y to one of them, and fit again."
        )


def _demand(values: tuple[Any, ...], where: str) -> None:
    strange = next((value for value in values if type(value) not in _EXACT_TYPES), None)
    if strange is not None:
        raise ValueError(
            f"In this model {where} {reprlib.repr(strange)} ({type(strange).__name__}), and only "
            "texts and numbers can be exported. Convert the column, and fit again."
        )


def demand_one_kind(outline: Outline, language: str) -> None:
    """Raise unless each column's categories are all texts or all numbers, known beforehand."""
    for feature in outline.features:
        _demand_one_kind(feature)
    if outline.unseen == "error" and outline.has_categories:
        raise ValueError(
            f"This {outline.kind} has unseen='error', and {language} raises no errors. Set "
            "unseen='missing' and export again: categories that were not there at fit then go the "
            "way of missing values. (Exported to Python it raises as predict does.)"
        )


def _demand_one_kind(feature: Feature) -> None:
    categories = feature.categories or ()
    texts = [value for value in categories if isinstance(value, str)]
    numbers = [value for value in categories if not isinstance(value, str)]
    if texts and numbers:
        raise ValueError(
            f"Column {feature.name!r} has categories that are texts ({reprlib.repr(texts[0])}) and "
            f"others that are numbers ({reprlib.repr(numbers[0])}); an exported column has one "
            "kind. Convert the column to texts, and fit again, or export to Python."
        )
    inexact = next((value for value in numbers if not _is_float64(value)), None)
    if inexact is not None:
        raise ValueError(
            f"Column {feature.name!r} has the category {inexact}, which float64 cannot hold. "
            "Convert the column to texts, and fit again, or export to Python."
        )
    if any("\0" in text for text in texts):
        raise ValueError(
            f"Column {feature.name!r} has a category with the character NUL, which ends texts in "
            "C. Replace it, and fit again, or export to Python."
        )


def _is_float64(value: Any) -> bool:
    try:
        return bool(float(value) == value)
    except OverflowError:
        return False


def is_text(feature: Feature) -> bool:
    """Tell whether a column's categories are texts."""
    return bool(feature.categories) and isinstance((feature.categories or ("",))[0], str)
