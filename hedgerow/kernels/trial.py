"""A trial: whether kernels can compile the formulas of a user's loss, and what is in the way."""

from numba.core.errors import NumbaError

from hedgerow.kernels.jit import compiled_for, config, kernel


@kernel
def _evaluate(loss, y, f):
    return loss.loss(y, f), loss.gradient(y, f), loss.hessian(y, f)


def demand_compilable(loss):
    """Raise TypeError unless kernels can compile `loss`, `gradient` and `hessian`."""
    if config.DISABLE_JIT:
        return
    try:
        compiled_for(_evaluate, (loss, 0.0, 0.0))
    except (NumbaError, ValueError) as error:
        raise TypeError(
            f"{loss!r} cannot be compiled: {_reason(str(error))}. Write its methods with "
            "operators, abs, max, min, if, its fields (numbers), and the functions of "
            "hedgerow.losses.formulas."
        ) from error


def _reason(message):
    """Return the innermost error of Numba's message, and where it is."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    named = [line for line in lines if "Error: " in line and "nopython mode" not in line]
    places = [line.removeprefix("During: ") for line in lines if line.startswith("During: typing")]
    said = named[-1] if named else next(line for line in lines if "nopython mode" not in line)
    return " ".join([said, *places[:1]])
