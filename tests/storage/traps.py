"""Load files whose texts name a module and a function that tell on whoever uses them.

`python -m tests.storage.traps`, with a folder on the path that has the module `trap`. Every text
of every golden file is replaced, one at a time and with the checksum made right. An audit hook
writes down what Python imports, compiles, executes or starts while such a file is loaded.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hedgerow
from hedgerow.fitted.files import NotHere, fitted_from
from tests.storage.fuzz import GOLDEN
from tests.storage.mutations import places_of, sealed, split

NAMES = ("trap", "trap.spring", "trap:spring", "__import__('trap').spring()")
EVENTS = {"import", "compile", "exec", "os.system", "subprocess.Popen", "pickle.find_class"}


def baited(data: bytes, name: str) -> Iterator[bytes]:
    """Yield a file for each of its texts, with the name in place of that text."""
    header, body = split(data)
    told = json.loads(header["__metadata__"]["model"])
    for owner, key in places_of(told, []):
        if isinstance(owner[key], str):
            kept, owner[key] = owner[key], name
            changed = {**header["__metadata__"], "model": json.dumps(told)}
            yield sealed({**header, "__metadata__": changed}, body)
            if kept == header["__metadata__"]["class"] and key == "class":
                yield sealed({**header, "__metadata__": {**changed, "class": name}}, body)
            owner[key] = kept


def main() -> None:
    """Load all; print how many files there were, and what was written down."""
    seen: list[str] = []
    watching = False

    def watch(event: str, details: tuple[Any, ...]) -> None:
        if watching and event in EVENTS:
            seen.append(f"{event} {details!r:.200}")

    for path in GOLDEN:  # what is imported for a model is imported now
        hedgerow.load(path)
        with suppress(NotHere):
            fitted_from(path)
    sys.addaudithook(watch)
    n_files = n_loaded = 0
    with TemporaryDirectory() as folder:
        path = Path(folder, "baited.hedgerow")
        for number, golden in enumerate(GOLDEN):
            for data in baited(golden.read_bytes(), NAMES[number % len(NAMES)]):
                path.write_bytes(data)
                for load in (hedgerow.load, fitted_from):
                    n_files += 1
                    watching = True
                    with suppress(hedgerow.ModelFileError, NotHere):
                        load(path)
                        n_loaded += 1
                    watching = False
    json.dump({"files": n_files, "loaded": n_loaded, "seen": seen[:20]}, sys.stdout)


if __name__ == "__main__":
    main()
