"""What a person can get wrong: one clear line on stderr, no traceback, and the exit code."""

import gzip
import json

import pytest

from hedgerow.cli import training
from hedgerow.cli.commands import app
from tests.cli.calls import called, people, written

FEW = ["--model", "tree", "--holdout", "0"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a model, its data, and files that are wrong in many ways."""
    place = tmp_path_factory.mktemp("mistakes")
    rows = people(60)
    for row in rows:
        del row["id"], row["bought"], row["grade"]
    written(place / "good.csv", rows)
    lines = (place / "good.csv").read_text(encoding="utf-8").splitlines()
    texts = {
        "empty.csv": "",
        "header.csv": lines[0],
        "ragged.csv": "\n".join([*lines[:4], "1,2", *lines[5:]]),
        "words.csv": "\n".join([*lines[:7], "old,Ulm,170,3", *lines[8:]]),
        "twice.csv": "a,a,b\n1,2,3\n4,5,6\n",
        "alone.csv": "price\n1\n2\n",
        "same.csv": "a,price\n1,x\n2,x\n3,x\n",
        "each.csv": "a,price\n1,x\n2,y\n3,z\n",
        "renamed.csv": "\n".join([lines[0].replace("height", "heihgt"), *lines[1:]]),
        "rare.csv": "a,price\n" + "1,x\n" * 9 + "2,y\n",
        "strange.csv": "\n".join(["a,price", *["1,x", "2,y"] * 9, "3,w"]),
    }
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
    (place / "latin.csv").write_bytes(b"a,price\n1,2\n\xe9t\xe9,3\n")
    (place / "binary.csv").write_bytes(bytes(range(256)) * 4)
    (place / "cut.csv.gz").write_bytes(gzip.compress((place / "good.csv").read_bytes())[:-20])
    (place / "sheet.xlsx").write_bytes(b"PK\x03\x04" + b"\0" * 40)
    (place / "cut.parquet").write_bytes(b"PAR1" + b"\1" * 40)
    (place / "notes.txt").write_text("no model")
    result = called("train", place / "good.csv", "-t", "price", *FEW, "-o", place / "good.hedgerow")
    assert result.exit_code == 0, result.stderr
    medians = ["--model", "adaboost", "--set", "n_estimators=3", "-o", place / "medians.hedgerow"]
    result = called("train", place / "good.csv", "-t", "price", "--task", "regression", *medians)
    assert result.exit_code == 0, result.stderr
    damaged = bytearray((place / "good.hedgerow").read_bytes())
    damaged[-1] ^= 1
    (place / "damaged.hedgerow").write_bytes(damaged)
    return place


TRAIN = ["-t", "price", *FEW, "-o", "{place}/new.hedgerow"]
FAILED = {
    "export {place}/absent.hedgerow -o {place}/out.py": "there is no such model file",
    "export {place}/damaged.hedgerow -o {place}/out.py": "damaged.hedgerow",
    "export {place}/good.hedgerow -o {place}/no/out.py": "There is no directory",
    "export {place}/good.hedgerow -o {place} --to c": "is a directory. Pass the name of a file",
    "train {place}/absent.csv": "there is no such file",
    "train {place}/god.csv": "Did you mean 'good.csv'?",
    "train {place}": "is a directory",
    "train {place}/good.csv --model forest --checkpoint {place}/no/c": "there is no directory",
    "train {place}/empty.csv": "is empty",
    "train {place}/header.csv": "0 rows with a value of 'price'",
    "train {place}/ragged.csv": "ragged.csv, line 5: there are 2 values, but the header has 4",
    "train {place}/twice.csv": "two columns are called 'a'",
    "train {place}/alone.csv": "no column besides 'price'",
    "train {place}/same.csv": "all rows have 'x'",
    "train {place}/each.csv": "a class of its own",
    "train {place}/latin.csv": "latin.csv, line 3: byte 0xe9 is not UTF-8",
    "train {place}/binary.csv": "neither text, nor Parquet, nor Arrow",
    "train {place}/cut.csv.gz": "is cut off or damaged",
    "train {place}/sheet.xlsx": "a spreadsheet",
    "train {place}/cut.parquet": "cut.parquet cannot be read",
    "train {place}/good.csv --drop hieght_": "Did you mean 'height'?",
    "train {place}/same.csv --task regression": "'x' in row 1 is not a number",
    "train {place}/rare.csv --cv 3": "class 'y' has 1 rows, too few for 3 folds",
    "predict {place}/absent.hedgerow {place}/good.csv": "there is no such model file",
    "predict {place}/notes.txt {place}/good.csv": "cannot be loaded",
    "predict {place}/good.csv {place}/good.hedgerow": "MODEL comes before DATA",
    "predict {place}/damaged.hedgerow {place}/good.csv": "it is damaged",
    "predict {place}/good.hedgerow {place}/words.csv": (
        "words.csv, line 8, column 'age': 'old' is not a number"
    ),
    "predict {place}/good.hedgerow {place}/ragged.csv": "line 5: there are 2 values",
    "predict {place}/good.hedgerow {place}/renamed.csv": "Did you mean 'heihgt'?",
    "predict {place}/good.hedgerow {place}/good.csv --keep nobody": "has no column 'nobody'",
    "predict {place}/good.hedgerow {place}/good.csv -o {place}/no/out.csv": "cannot be written",
    "evaluate {place}/good.hedgerow {place}/good.csv -t prize": "Did you mean 'price'?",
    "evaluate {place}/good.hedgerow {place}/strange.csv": "which column is the target?",
    "explain {place}/medians.hedgerow {place}/good.csv --row 3": "it has no exact Shapley values",
    "show {place}": "Is a directory",
}
MISUSED = {
    "trainn": "No such command 'trainn'",
    "train": "Missing argument 'DATA'",
    "train {place}/good.csv --taget price": "No such option: --taget",
    "train {place}/good.csv --model tref": "Did you mean 'tree'?",
    "train {place}/good.csv --set max_dept=3": "Did you mean 'max_depth'?",
    "train {place}/good.csv --set max_depth": "write name=value",
    "train {place}/good.csv --set max_depth=-1": "'max_depth' parameter",
    "train {place}/good.csv --set max_depth=2 --set max_depth=3": "given twice",
    "train {place}/good.csv --cv 1": "pass 2 folds or more",
    "train {place}/good.csv --cv many": "Invalid value for '--cv'",
    "train {place}/good.csv --holdout 1.5": "pass a share of the rows",
    "train {place}/good.csv --task guess": "classification, regression",
    "train {place}/good.csv --drop price": "it is the target",
    "train {place}/good.csv --delimiter ab": "pass one character",
    "train {place}/good.csv --checkpoint {place}/c": "and not for --model tree",
    "train {place}/good.csv -o {place}/good.csv": "is the data",
    "train {place}/good.csv -o {place}": "is a directory",
    "train {place}/good.csv --seed -1": "--seed -1: pass a whole number from 0",
    "train {place}/good.csv --model forest --checkpoint {place}/good.csv": "is the data",
    "train {place}/good.csv --model forest --checkpoint {place}": "is a directory",
    "train {place}/good.csv --model forest -o {place}/f --checkpoint {place}/f": "the model goes",
    "predict {place}/good.hedgerow {place}/good.csv -p": "which predicts numbers",
    "predict {place}/good.hedgerow {place}/good.csv -o {place}/out.xls": "the name ends with .csv",
    "predict {place}/good.hedgerow {place}/good.csv -o {place}/good.csv": "would overwrite",
    "predict {place}/good.hedgerow {place}/good.csv --json": "pass --output",
    "explain {place}/good.hedgerow --row 3": "pass the file, too",
    "explain {place}/good.hedgerow {place}/good.csv --row 0": "counted from 1",
    "show {place}/good.hedgerow --tree 9": "trees 0 to 0",
    "compare {place}/good.csv -t price --model tref": "Did you mean 'tree'?",
    "compare {place}/good.csv -t price --seed 4294967296": "whole number from 0 to 4294967295",
    "export {place}/good.hedgerow": "Missing option '--output'",
    "export {place}/good.hedgerow -o {place}/out.txt": "ends in none of .onnx, .c, .py",
    "export {place}/good.hedgerow -o {place}/out.py --to python3": "Did you mean 'python'?",
    "export {place}/good.hedgerow -o {place}/good.hedgerow --to c": "is the model itself",
}


def tried(line: str, place):
    words = line.split()
    if words[:1] == ["train"] and len(words) > 1:
        given = [word for word in TRAIN if not (word in words and word != "price")]
        words = [words[0], *_without_repeats(given, words), *words[1:]]
    return called(*(word.replace("{place}", str(place)) for word in words))


def _without_repeats(given: list[str], words: list[str]) -> list[str]:
    """Leave out options, and their values, that the line has itself."""
    pairs = zip(TRAIN[::2], TRAIN[1::2], strict=True)
    return [each for pair in pairs if pair[0] not in words for each in pair] if given else []


@pytest.mark.parametrize("line", FAILED)
def test_work_that_fails_is_one_line_and_ends_with_1(place, line):
    result = tried(line, place)
    assert FAILED[line] in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert (result.exit_code, result.stdout) == (1, "")


@pytest.mark.parametrize("line", MISUSED)
def test_wrong_usage_is_one_line_and_ends_with_2(place, line):
    result = tried(line, place)
    assert MISUSED[line] in result.stderr
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_no_command_shows_the_help_and_ends_with_2():
    result = called()
    assert (result.exit_code, result.stderr) == (2, "")
    assert "Usage: hedgerow" in result.stdout


def test_a_failure_leaves_no_file_behind(place, tmp_path):
    out = tmp_path / "out.csv"
    assert called("predict", place / "good.hedgerow", place / "words.csv", "-o", out).exit_code == 1
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_where(place):
    quiet = called("train", place / "empty.csv", "-t", "price")
    told = called("train", place / "empty.csv", "-t", "price", "--debug")
    assert "Traceback" not in quiet.stderr
    assert "Traceback" in told.stderr
    assert told.stderr.splitlines()[-1] == quiet.stderr.strip()


def test_an_interrupt_is_one_line_too(place, monkeypatch):
    def interrupted(_order):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "train", interrupted)
    result = called("train", place / "good.csv", "-t", "price")
    assert (result.exit_code, result.stderr) == (130, "hedgerow: interrupted.\n")


def test_a_bug_is_one_line_with_a_remedy(place, monkeypatch):
    def broken(_order):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(training, "train", broken)
    result = called("train", place / "good.csv", "-t", "price")
    assert result.exit_code == 1
    assert result.stderr.startswith("hedgerow: ZeroDivisionError: division by zero (`--debug`")


def test_every_command_has_json(place):
    model, data = place / "good.hedgerow", place / "good.csv"
    commands = {
        "show": [model],
        "evaluate": [model, data],
        "explain": [model],
        "predict": [model, data, "-o", place / "out.csv"],
        "compare": [data, "-t", "price", "-m", "tree", "--cv", "2"],
        "train": [data, "-t", "price", *FEW, "-o", place / "again.hedgerow"],
        "export": [model, "-o", place / "out.py"],
        "cache": [],
    }
    # Of `warmup`, which takes long, tests/cli/test_commands.py asks the same.
    assert {*commands, "warmup"} == {each.callback.__name__ for each in app.registered_commands}
    for name, words in commands.items():
        result = called(name, *words, "--json")
        assert result.exit_code == 0, result.stderr
        assert json.loads(result.stdout)["command"] == name
