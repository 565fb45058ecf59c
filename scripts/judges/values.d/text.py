"""CSV and NDJSON by Python's own modules: sources as we take them, and what was written read back."""

import bz2
import csv
import gzip
import io
import json
import re

import pyarrow as pa

import corpus

NAME = "Python"
csv.field_size_limit(1 << 30)


def csv_field(column, value):
    """A field as a source has it. NULL is bare, and what must be quoted is."""
    if value is None:
        return ""
    loaded = corpus.load(value.text)
    text = value.text if column.type == "json" or not isinstance(loaded, str) else str(loaded)
    if not text or any(c in text for c in ',"\r\n') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def write_csv(path, columns, end="\n"):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(",".join(c.name for c in columns) + end)
        for i in range(len(columns[0].rows)):
            f.write(",".join(csv_field(c, c.rows[i]) for c in columns) + end)


def write_ndjson(path, columns, end="\n"):
    """NULL is null in every second row, and a key that is not there in the others."""
    with open(path, "w", encoding="utf-8", newline="") as f:
        for i in range(len(columns[0].rows)):
            pairs = ((c.name, c.rows[i]) for c in columns if c.rows[i] is not None or i % 2)
            f.write("{" + ",".join(f'"{name}":{"null" if v is None else v.text}' for name, v in pairs) + "}" + end)


WRITERS = {"csv": write_csv, "ndjson": write_ndjson}


def opened(path):
    """The file's bytes, decompressed by tools that are not the product's."""
    if path.endswith(".gz"):
        with gzip.open(path) as f:
            return f.read()
    if path.endswith(".zst"):
        with pa.input_stream(path, compression="zstd") as f:
            return f.read()
    if path.endswith(".bz2"):
        with bz2.open(path) as f:
            return f.read()
    with open(path, "rb") as f:
        return f.read()


def read_ndjson(data, columns):
    """The truths of each column, by name. Every line is one object of all columns in order."""
    got = {c.name: [] for c in columns}
    lines = data.decode("utf-8").split("\n")
    if lines.pop():
        raise ValueError("the last line has no end")
    for line in lines:
        row = corpus.load(line)
        if [k for k, _ in row] != [c.name for c in columns]:
            raise ValueError(f"the keys are not the columns: {line[:200]}")
        json.loads(line, parse_constant=no_constant)
        for c, (_, value) in zip(columns, row):
            got[c.name].append(corpus.of_json(c.type, value))
    return got


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


# One field of RFC 4180, and what ends it.
FIELD = re.compile(r'(?:"((?:[^"]++|"")*+)"|([^",\r\n]*+))(,|\n)')


def read_csv(data, columns):
    """The truths of each column, by name. Python's csv module must find the same texts; it cannot tell NULL from an empty one."""
    text = data.decode("utf-8")
    records = list(csv_records(text))
    if [[f or "" for f in r] for r in records] != list(csv.reader(io.StringIO(text, newline=""))):
        raise ValueError("Python's csv module reads other fields")
    if records[0] != [c.name for c in columns]:
        raise ValueError(f"the header is {records[0]}")
    if bad := next((r for r in records if len(r) != len(columns)), None):
        raise ValueError(f"a record of {len(bad)} fields: {bad}")
    return {c.name: [None if r[k] is None else corpus.of_text(c.type, r[k]) for r in records[1:]] for k, c in enumerate(columns)}


def csv_records(text):
    """Yields records as lists of fields, None for a bare empty one."""
    at, fields = 0, []
    while at < len(text):
        m = FIELD.match(text, at)
        if m is None:
            raise ValueError(f"not RFC 4180 at character {at}: {text[at:at + 40]!r}")
        quoted, bare, end = m.groups()
        fields.append(quoted.replace('""', '"') if quoted is not None else (bare or None))
        at = m.end()
        if end == "\n":
            yield fields
            fields = []
    if fields:
        raise ValueError("the last line has no end")


READERS = {"csv": read_csv, "ndjson": read_ndjson}


def read(format, path, columns, as_text=frozenset(), compat=False):
    return READERS[format](opened(path), columns)
