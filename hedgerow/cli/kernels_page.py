"""What `hedgerow warmup` and `hedgerow cache` tell people."""

from typing import Any

from rich.console import Console


def page(report: dict[str, Any], console: Console) -> None:
    """Print how many kernels there are, and where."""
    if report["command"] == "warmup":
        console.out(
            f"{report['n_kernels']} kernels are ready, {report['n_compiled'] or 'none'} of them "
            f"compiled now, in {report['seconds']:.1f} s: {report['directory']}",
            highlight=False,
        )
        return
    removed = [each for each in report["versions"] if each["removed"]]
    if report["cleared"] and report["versions"]:
        freed = _size(sum(each["bytes"] for each in removed))
        plural = "s" * (len(removed) != 1)
        console.out(f"Removed {len(removed)} other version{plural}, {freed}.", highlight=False)
    console.out(report["directory"], highlight=False)
    left = [each for each in report["versions"] if not each["removed"]]
    for each in left:
        note = "this version" if each["is_this_version"] else "another version"
        size = _size(each["bytes"])
        line = f"  {each['name']}  {each['n_kernels']:4} kernels {size:>9}  {note}"
        console.out(line, highlight=False)
    if not left:
        console.out("  nothing yet: `hedgerow warmup` or the first fit fills it", highlight=False)


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB"
