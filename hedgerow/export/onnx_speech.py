"""What ONNX models make of leaves: sums, links, classes."""

import numpy as np

from hedgerow.export.onnx_graph import Graph
from hedgerow.export.outline import Outline


def add_speech(graph: Graph, outline: Outline, leaves: str) -> None:
    """Add everything after the trees, with the outputs."""
    speech = outline.speech
    said = graph.add("Gather", [graph.constant(outline.trees.values), leaves], axis=0)
    if speech.link == "median":
        _add_prediction(graph, outline, _median(graph, outline, said))
        return
    sums = _sums(graph, outline, said)
    scores = sums
    if speech.divisor != 1.0:
        scores = graph.add("Div", [sums, graph.constant(speech.divisor)])
    if outline.classes is None:
        _add_prediction(graph, outline, _shown_numbers(graph, outline, scores))
        return
    if speech.link == "score":
        graph.alias(_label(graph, outline, sums, sums), "label")
        graph.alias(graph.add("Squeeze", [scores, graph.constant([1])]), "score")
        graph.add_output("label", np.array(outline.classes), None)
        graph.add_output("score", np.zeros(1), None)
        return
    shown = _probabilities(graph, outline, scores)
    graph.alias(_label(graph, outline, sums, shown), "label")
    graph.alias(shown, "probabilities")
    graph.add_output("label", np.array(outline.classes), None)
    graph.add_output("probabilities", np.zeros(1), outline.n_shown)


def _sums(graph: Graph, outline: Outline, said: str) -> str:
    """Add what leaves say to the start, tree after tree; float64 [n_rows, n_outputs].

    A cumulative sum is added up in order, which a sum need not be; its last row is taken.
    """
    n_said = outline.trees.n_trees * outline.trees.values.shape[1]
    n_rounds = n_said // outline.n_outputs
    shape = graph.constant(np.array([0, n_rounds, outline.n_outputs]))  # 0: as many as there are
    rounds = graph.add("Reshape", [said, shape])
    start = graph.constant(outline.start.reshape(1, 1, -1))
    first = graph.add("Slice", [rounds, graph.constant([0]), graph.constant([1]),
                                graph.constant([1])])  # fmt: skip
    begun = graph.add("Add", [first, start])
    rest = graph.add(
        "Slice",
        [rounds, graph.constant([1]), graph.constant([np.iinfo(np.int64).max]),
         graph.constant([1])],
    )  # fmt: skip
    whole = graph.add("Concat", [begun, rest], axis=1)
    summed = graph.add("CumSum", [whole, graph.constant(np.int64(1))])
    return graph.add("Gather", [summed, graph.constant(np.int64(-1))], axis=1)


def _median(graph: Graph, outline: Outline, said: str) -> str:
    """Take the weighted median of what trees say; float64 [n_rows, 1]."""
    n_trees = outline.trees.n_trees
    told = graph.add("Reshape", [said, graph.constant(np.array([0, n_trees]))])
    count = graph.constant(np.array([n_trees]))
    order = graph.add("TopK", [told, count], n_outputs=2, axis=1, largest=0, sorted=1)
    weights = graph.add("Gather", [graph.constant(outline.speech.weights), order], axis=0)
    below = graph.add("CumSum", [weights, graph.constant(np.int64(1))])
    total = graph.add("Gather", [below, graph.constant([-1])], axis=1)
    half = graph.add("Mul", [total, graph.constant(0.5)])
    reached = graph.add("GreaterOrEqual", [below, half])
    middle = graph.add("ArgMax", [graph.add("Cast", [reached], to=6)], axis=1, keepdims=1)  # int32
    which = graph.add("GatherElements", [order, middle], axis=1)
    return graph.add("GatherElements", [told, which], axis=1)


def _shown_numbers(graph: Graph, outline: Outline, scores: str) -> str:
    """Return predictions, float64 [n_rows, n_outputs]."""
    if outline.speech.link == "exp":
        return graph.add("Exp", [scores])
    if outline.speech.link == "sorted":
        count = graph.constant(np.array([outline.n_outputs]))
        order = graph.add("TopK", [scores, count], n_outputs=2, axis=1, largest=0, sorted=1)
        return graph.add("GatherElements", [scores, order], axis=1)
    return scores


def _add_prediction(graph: Graph, outline: Outline, shown: str) -> None:
    """Make predictions the output, [n_rows] if there is one for each row."""
    if outline.n_outputs == 1:
        shown = graph.add("Squeeze", [shown, graph.constant([1])])
    graph.alias(shown, "prediction")
    n_columns = None if outline.n_outputs == 1 else outline.n_outputs
    graph.add_output("prediction", np.zeros(1), n_columns)


def _probabilities(graph: Graph, outline: Outline, scores: str) -> str:
    """Return probabilities, float64 [n_rows, n_classes]."""
    link, label = outline.speech.link, outline.speech.label
    if label == "leaf":
        return graph.add("Slice", [scores, graph.constant([0]), graph.constant([-1]),
                                   graph.constant([1])])  # fmt: skip
    if link == "identity":
        return scores
    if link == "logistic":  # the odds of both classes are at most 1: none overflows
        scores = graph.add("Concat", [graph.add("Sub", [scores, scores]), scores], axis=1)
    highest = graph.add("ReduceMax", [scores, graph.constant([1])], keepdims=1)
    odds = graph.add("Exp", [graph.add("Sub", [scores, highest])])
    total = graph.add("ReduceSum", [odds, graph.constant([1])], keepdims=1)
    return graph.add("Div", [odds, total])


def _label(graph: Graph, outline: Outline, sums: str, shown: str) -> str:
    """Return the class of each row."""
    label = outline.speech.label
    if label == "leaf":
        last = graph.add("Gather", [sums, graph.constant(np.int64(-1))], axis=1)
        number = graph.add("Cast", [last], to=7)  # int64
    elif label == "boundary":
        only = graph.add("Squeeze", [sums, graph.constant([1])])
        above = graph.add("Greater", [only, graph.constant(outline.speech.boundary)])
        number = graph.add("Cast", [above], to=7)
    else:
        judged = sums if label == "sums" else shown
        number = graph.add("ArgMax", [judged], axis=1, keepdims=0)
    return graph.add("Gather", [graph.constant(np.array(outline.classes)), number], axis=0)
