"""Reads published files back, each format by a reader that shares nothing with the product. A reader yields, for each
record, its values in the order of truth.COLUMNS, or for records that were copied unparsed their text without line end."""

import base64
import io
import json
import re
from datetime import date, datetime
from decimal import Decimal

import truth

BLOCK = 1 << 20


class Malformed(Exception):
    """The file is not what its name says."""


def rows_of(path, copied):
    """Yields the file's rows; of records that were put aside, what is said of each."""
    kind = re.sub(r"\.(gz|zst)$", "", path).rsplit(".", 1)[-1]
    if path.endswith(".rejects.ndjson"):
        return rejected(path)
    if kind == "parquet":
        return parquet_rows(path)
    if kind == "txt":
        return text_lines(path)
    if kind == "ndjson":
        return text_lines(path) if copied else ndjson_rows(path)
    if kind == "csv":
        return csv_records(path, raw=True) if copied else csv_rows(path)
    raise Malformed(f"{path}: no reader for .{kind}")


def opened(path):
    """The file's text, decompressed by its name."""
    for ext, compression in ((".gz", "gzip"), (".zst", "zstd")):
        if path.endswith(ext):
            import pyarrow as pa

            with pa.input_stream(path, compression=compression) as f:
                try:
                    return io.StringIO(f.read().decode("utf-8"), newline="\n")
                except OSError as error:
                    raise Malformed(f"{path}: {error}") from error
    return open(path, "r", encoding="utf-8", newline="\n")


def text_lines(path):
    with opened(path) as f:
        for n, text in enumerate(f, 1):
            if not text.endswith("\n"):
                raise Malformed(f"{path}:{n}: the last line has no end")
            yield text[:-1]


# One field of RFC 4180 and what ends it.
FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\Z)')


def csv_records(path, raw=False):
    """Yields records after the header: their text, or their fields, None for an unquoted empty one."""
    with opened(path) as f:
        text = f.read()
    if text and not text.endswith("\n"):
        raise Malformed(f"{path}: the last line has no end")
    at, start, fields, first = 0, 0, [], True
    match, size = FIELD.match, len(text)
    while at < size:
        m = match(text, at)
        if m is None:
            raise Malformed(f"{path}: not RFC 4180 at character {at}: {text[at:at + 40]!r}")
        quoted, bare, end = m.groups()
        fields.append(quoted.replace('""', '"') if quoted is not None else (bare or None))
        at = m.end()
        if end == ",":
            continue
        if first:
            if fields != truth.NAMES:
                raise Malformed(f"{path}: the header is {fields}")
            first = False
        else:
            yield text[start:at - len(end)] if raw else fields
        start, fields = at, []
    if first:
        raise Malformed(f"{path}: no header")


def csv_rows(path):
    for fields in csv_records(path):
        yield typed(fields, path)


def typed(fields, path):
    """Text fields as values."""
    if len(fields) != len(truth.COLUMNS):
        raise Malformed(f"{path}: a record of {len(fields)} fields: {fields}")
    id, n, amount, day, at, ratio, ok, note = fields
    try:
        return (
            id,
            None if n is None else int(n),
            None if amount is None else Decimal(amount),
            None if day is None else date.fromisoformat(day),
            None if at is None else datetime.fromisoformat(at),
            None if ratio is None else float(ratio),
            None if ok is None else {"true": True, "false": False}[ok],
            note,
        )
    except (ValueError, ArithmeticError, KeyError) as error:
        raise Malformed(f"{path}: record {id}: {error!r}") from error


class Number(str):
    """The digits of a JSON number, so that none is lost to a float."""


DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, object_pairs_hook=list)
NUMERIC = [False, True, True, False, False, True, False, False]


def ndjson_rows(path):
    for n, text in enumerate(text_lines(path), 1):
        try:
            pairs = DECODER.decode(text)
        except ValueError as error:
            raise Malformed(f"{path}:{n}: {error}") from error
        if not isinstance(pairs, list) or [p[0] for p in pairs] != truth.NAMES:
            raise Malformed(f"{path}:{n}: the keys are not the columns: {text[:200]}")
        fields = [p[1] for p in pairs]
        for value, numeric, name in zip(fields, NUMERIC, truth.NAMES):
            shape = bool if name == "ok" else Number if numeric else str
            if value is not None and type(value) is not shape:
                raise Malformed(f"{path}:{n}: {name} is {value!r}, a {type(value).__name__}")
        if fields[6] is not None:
            fields[6] = "true" if fields[6] else "false"
        yield typed(fields, f"{path}:{n}")


def rejected(path):
    """Yields file, line and text of records that were put aside. Bytes that are not UTF-8 are surrogates, as in sources."""
    for n, text in enumerate(text_lines(path), 1):
        try:
            said = json.loads(text)
            raw = said["raw"].encode() if said["raw"] is not None else base64.b64decode(said["raw_base64"], validate=True)
            if not said["reason"] or (said["raw"] is None) == (said["raw_base64"] is None):
                raise ValueError("it has no reason, or not one text")
            yield said["file"].rsplit("/", 1)[-1], said["line"], raw.decode("utf-8", "surrogateescape")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Malformed(f"{path}:{n}: {error!r}: {text[:200]}") from error


def parquet_rows(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as f:
            schema = f.schema_arrow
            if schema.names != truth.NAMES or list(schema.types) != list(truth.arrow_schema().types):
                raise Malformed(f"{path}: the schema is {schema}")
            for batch in f.iter_batches(batch_size=1 << 15):
                yield from zip(*(column.to_pylist() for column in batch.columns))
    except (pa.ArrowException, OSError) as error:
        raise Malformed(f"{path}: {error}") from error
