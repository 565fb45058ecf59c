"""What readers cannot do, each with the reason. A limit is checked: one that is gone is a failure, so that it is struck off here."""

import fnmatch
import os
import sys
from dataclasses import dataclass

# How a column goes through a reader that has not its type.
TEXT = "as text"  # its values are compared as the texts that stand for them
BYTES = "as bytes"
NONE = "not at all"

WRITTEN, TAKEN = "we write, they read", "they write, we read"


@dataclass(frozen=True)
class Limit:
    direction: str
    format: str
    reader: str
    kinds: str  # patterns of names
    mode: str
    reason: str


LIMITS = [
    Limit(WRITTEN, "parquet", "Polars", "uuid json*", BYTES, "Polars has no uuid and no json: it gives their bytes"),
    Limit(WRITTEN, "csv", "pyarrow", "binary", TEXT, "CSV has no bytes: they are base64, which readers of CSV do not decode"),
    Limit(WRITTEN, "csv", "DuckDB", "binary", TEXT, "CSV has no bytes: they are base64, which readers of CSV do not decode"),
    Limit(WRITTEN, "csv", "Polars", "binary", TEXT, "CSV has no bytes: they are base64, which readers of CSV do not decode"),
    Limit(WRITTEN, "csv", "pyarrow", "uuid json* list* struct*", TEXT, "pyarrow reads no uuid, no json, no lists and no structs from CSV"),
    Limit(WRITTEN, "csv", "DuckDB", "list<string> struct*", TEXT, "DuckDB takes the JSON of a list or struct in CSV for its own literals, and \\n in it for n"),
    Limit(WRITTEN, "csv", "Polars", "list* struct*", TEXT, "Polars reads no lists and no structs from CSV"),
    Limit(WRITTEN, "csv", "Polars", "uuid json*", TEXT, "Polars has no uuid and no json"),
    Limit(WRITTEN, "ndjson", "pyarrow", "binary", TEXT, "JSON has no bytes: they are base64, which readers of JSON do not decode"),
    Limit(WRITTEN, "ndjson", "DuckDB", "binary", TEXT, "JSON has no bytes: they are base64, which readers of JSON do not decode"),
    Limit(WRITTEN, "ndjson", "Polars", "binary", TEXT, "JSON has no bytes: they are base64, which readers of JSON do not decode"),
    Limit(WRITTEN, "ndjson", "pyarrow", "float*not?finite", TEXT, "JSON has no such numbers: they are strings, which pyarrow and Polars do not take for floats"),
    Limit(WRITTEN, "ndjson", "Polars", "float*not?finite", TEXT, "JSON has no such numbers: they are strings, which pyarrow and Polars do not take for floats"),
    Limit(WRITTEN, "ndjson", "pyarrow", "date time uuid", TEXT, "pyarrow reads no dates, times and uuids from JSON"),
    Limit(WRITTEN, "ndjson", "pyarrow", "json*", NONE, "pyarrow and Polars read no column of any JSON"),
    Limit(WRITTEN, "ndjson", "Polars", "json*", NONE, "pyarrow and Polars read no column of any JSON"),
    Limit(WRITTEN, "ndjson", "DuckDB", "json,?beyond?float64", NONE, "DuckDB reads numbers in JSON as float64 where they are no integers"),
    Limit(WRITTEN, "ndjson", "Polars", "int8 int16 uint8 uint16 time", TEXT, "Polars reads no small integers and no times from JSON"),
    Limit(WRITTEN, "ndjson", "Polars", "decimal*", NONE, "Polars reads decimals from JSON through float64, or not at all"),
    Limit(WRITTEN, "ndjson", "Polars", "uuid", TEXT, "Polars has no uuid"),
    Limit(TAKEN, "parquet", "Polars", "uuid", BYTES, "Polars has no uuid: what it writes are bytes"),
    Limit(TAKEN, "parquet", "Polars", "json*", TEXT, "Polars has no json: what it writes is a string"),
    Limit(TAKEN, "csv", "pyarrow", "binary uuid json* list* struct*", TEXT, "pyarrow writes no bytes, uuids, json, lists and structs to CSV"),
    Limit(TAKEN, "csv", "DuckDB", "binary", TEXT, "DuckDB writes bytes in a form of its own, abc\\x00: base64() is asked for"),
    Limit(TAKEN, "csv", "DuckDB", "list* struct*", TEXT, "DuckDB writes lists and structs as its own literals: to_json() is asked for"),
    Limit(TAKEN, "csv", "Polars", "binary uuid json* list* struct*", TEXT, "Polars writes no bytes, lists and structs to CSV, and has no uuid and no json"),
    Limit(TAKEN, "ndjson", "pyarrow", "*", NONE, "pyarrow has no writer of JSON"),
    Limit(TAKEN, "ndjson", "DuckDB", "binary", TEXT, "DuckDB writes bytes in a form of its own, abc\\x00: base64() is asked for"),
    Limit(TAKEN, "ndjson", "DuckDB", "float*not?finite", NONE, "DuckDB writes NaN and Infinity bare, which is not JSON, and is refused"),
    Limit(TAKEN, "ndjson", "DuckDB", "json,?beyond?float64", NONE, "DuckDB writes numbers in JSON as float64 where they are no integers"),
    Limit(TAKEN, "ndjson", "Polars", "float*not?finite", NONE, "Polars writes NaN and the infinities as null"),
    Limit(TAKEN, "ndjson", "Polars", "binary uuid", TEXT, "Polars writes no bytes to JSON, and has no uuid"),
    Limit(TAKEN, "ndjson", "Polars", "json*", NONE, "Polars has no json: what it writes is a string"),
]


def find(direction, format, reader, kind):
    """The limit that a kind meets there, or None."""
    name = kind.name.removesuffix(", 70 KB").replace(" ", "?")
    for limit in LIMITS:
        if (limit.direction, limit.format, limit.reader) == (direction, format, reader):
            if any(fnmatch.fnmatchcase(name.replace("?", " "), pattern) for pattern in limit.kinds.split()):
                return limit
    return None


FAILED = object()


def quietly(f):
    """Calls f, and gives what it gives; FAILED if it fails. What libraries print then is not shown."""
    quiet, shown = os.open(os.devnull, os.O_WRONLY), os.dup(2)
    sys.stderr.flush()
    os.dup2(quiet, 2)
    try:
        return f()
    except BaseException as error:  # Polars raises panics, which are no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return FAILED
    finally:
        os.dup2(shown, 2)
        os.close(quiet)
        os.close(shown)


class Board:
    """Gathers what was compared, and the table of it."""

    def __init__(self):
        self.marks = {}  # (kind, cell) to "=", a Limit, or "X"
        self.cells, self.kinds = [], []
        self.values, self.failures = 0, []

    def mark(self, kind, cell, mark):
        """Notes the outcome of a kind in a cell, of several the worst."""
        if kind.name == "id":  # stands in every table, and is no kind of the corpus
            return
        for names, name in ((self.kinds, kind.name), (self.cells, cell)):
            if name not in names:
                names.append(name)
        if self.marks.get((kind.name, cell)) != "X":
            self.marks[kind.name, cell] = mark

    def fail(self, text, kind=None, cell=None):
        """Notes a failure, and prints the first one of a kind in a cell."""
        self.failures.append(text)
        if not kind or self.marks.get((kind.name, cell)) != "X":
            print(f"FAILED: {text}", flush=True)
        if kind:
            self.mark(kind, cell, "X")

    def compare(self, what, column, got, cell=None, limit=None, want=None):
        """Compares a column's values with the truth, and tells whether they are equal."""
        want = column.truths() if want is None else want
        got = list(got)
        self.values += len(want)
        if got == want:
            if cell:
                self.mark(column.kind, cell, limit or "=")
            return True
        i = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), None)
        said = f"{len(got)} rows and not {len(want)}" if i is None else f"row {i} is {short(got[i])} and not {short(want[i])}"
        self.fail(f"{what}: column {column.name}: {said}", column.kind, cell)
        return False

    def line(self):
        n = {mark: sum(m == mark for m in self.marks.values()) for mark in ("=", "X")}
        return f"{len(self.marks)} cells: {n['=']} equal, {len(self.marks) - n['='] - n['X']} a reader's limit, {n['X']} different"

    def table(self):
        """The table as Markdown, with notes for the limits."""
        notes = list(dict.fromkeys(self.marks[k, c].reason for c in self.cells for k in self.kinds if isinstance(self.marks.get((k, c)), Limit)))
        out = []
        for direction in (WRITTEN, TAKEN):
            cells = [c for c in self.cells if c[0] == direction]
            out += ["", f"| {direction} | " + " | ".join(f"{f} {r}" for _, f, r in cells) + " |", "|---" * (len(cells) + 1) + "|"]
            for k in self.kinds:
                row = [self.marks.get((k, c), "") for c in cells]
                if any(row):
                    out.append(f"| {k} | " + " | ".join(f"{m.mode} ({notes.index(m.reason) + 1})" if isinstance(m, Limit) else m for m in row) + " |")
        return "\n".join(out + [""] + [f"({n}) {reason}" for n, reason in enumerate(notes, 1)])


def short(v):
    text = repr(v)
    return text if len(text) <= 120 else text[:120] + "..."
