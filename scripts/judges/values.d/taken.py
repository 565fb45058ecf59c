"""They write, we read: judges write the corpus in every layout that they have; we export it to NDJSON and Parquet, and what
these have is compared with the truth."""

import base64
import itertools
import json
import os

import by_duckdb
import by_polars
import by_pyarrow
import corpus
import job
import limits
import text
from limits import BYTES, NONE, TAKEN, TEXT

SINKS = [("ndjson", {"nonfinite": "string"}), ("parquet", {})]
FIELDS = {"csv": {"nul": "keep"}}

# Layouts of Parquet by writer: the short list has each value of each option, the long one each combination.
PYARROW = {"use_dictionary": (True, False), "data_page_version": ("1.0", "2.0"), "compression": ("snappy", "none", "zstd", "gzip", "brotli", "lz4"),
           "row_group_size": (1 << 20, 7, 1)}
DUCKDB = {"CODEC": ("snappy", "uncompressed", "zstd", "gzip", "brotli", "lz4", "lz4_raw"), "PARQUET_VERSION": ("v1", "v2"), "DICTIONARY_SIZE_LIMIT": ("100000", "1")}
POLARS = {"compression": ("zstd", "uncompressed", "snappy", "gzip", "brotli", "lz4"), "row_group_size": (1 << 20, 7, 1), "data_page_size": (1 << 20, 100),
          "statistics": (True, False)}
# What is beside these: pages of a few bytes, codings that must be asked for, names of old lists.
ODD = [{"data_page_size": 1, "write_batch_size": 3, "write_page_index": True}, {"store_decimal_as_integer": True}, {"use_compliant_nested_type": False},
       {"use_dictionary": False, "write_page_checksum": True, "data_page_version": "2.0", "data_page_size": 50}]
CODINGS = {"int32": "DELTA_BINARY_PACKED", "int64": "DELTA_BINARY_PACKED", "uint32": "BYTE_STREAM_SPLIT", "uint64": "DELTA_BINARY_PACKED", "float32": "BYTE_STREAM_SPLIT",
           "float64": "BYTE_STREAM_SPLIT", "date": "DELTA_BINARY_PACKED", "timestamp": "DELTA_BINARY_PACKED", "time": "BYTE_STREAM_SPLIT", "string": "DELTA_BYTE_ARRAY",
           "binary": "DELTA_LENGTH_BYTE_ARRAY", "bool": "RLE"}


def layouts(options, long):
    """Combinations of options: all, or as many as it takes that each value is there, shifted against each other."""
    if long:
        return [dict(zip(options, values)) for values in itertools.product(*options.values())]
    most = max(map(len, options.values()))
    return [{name: values[(i + k * (i // len(values))) % len(values)] for k, (name, values) in enumerate(options.items())} for i in range(most)]


def codings(columns):
    return {"use_dictionary": False, "column_encoding": {c.name: CODINGS[c.type] for c in columns if c.type in CODINGS}}


def run(runner, board, columns, how, limits_too=False):
    """how is which layouts of Parquet are written: one, short, long."""
    for writer in (by_pyarrow, by_duckdb, by_polars):
        for format in ("parquet", "csv", "ndjson"):
            by_writer(runner, board, writer, format, columns, how)
            if limits_too:
                check_limits(runner, board, writer, format, columns)


def old_timestamps(runner, board, columns):
    """INT96, as Spark and Hive have written timestamps, says nothing of a zone: it is taken for a timestamp, or for UTC if asked."""
    columns = [c for c in columns if c.type in ("timestamp", "timestamptz")]
    folder = runner.folder()
    by_pyarrow.write("parquet", os.path.join(folder, "int96.parquet"), by_pyarrow.table(columns), columns, use_deprecated_int96_timestamps=True)
    declared = [{"name": c.name, "type": c.type, **({"cast": "exact"} if c.type == "timestamptz" else {})} for c in columns]
    at, outs = runner.run({"path": os.path.join(folder, "*.parquet"), "format": "parquet", "columns": declared}, SINKS)
    got = text.read("ndjson", outs[0][0], columns)
    for c in columns:
        board.compare("pyarrow writes INT96", c, got[c.name], (TAKEN, "parquet", by_pyarrow.NAME))
    job.remove(at)


def by_writer(runner, board, writer, format, columns, how):
    cell = (TAKEN, format, writer.NAME)
    of = {c.name: limits.find(TAKEN, format, writer.NAME, c.kind) for c in columns}
    for c in columns:
        if of[c.name] and of[c.name].mode == NONE:
            board.mark(c.kind, cell, of[c.name])
    wanted = [c for c in columns if not of[c.name] or of[c.name].mode != NONE]
    if not wanted:
        return
    folder = runner.folder()
    files = write_all(writer, format, folder, wanted, of, how)
    what = f"{writer.NAME} writes {files} {format}"
    source = {"path": os.path.join(folder, f"*.{format}"), "format": format, **({format: FIELDS[format]} if format in FIELDS else {})}
    if format != "parquet":
        source["columns"] = job.declared(wanted)
    else:  # the file says what its columns are
        wanted = [{BYTES: as_bytes, TEXT: as_text}[of[c.name].mode](c) if of[c.name] else c for c in wanted]
    try:
        at, (lines, parquet) = runner.run(source, SINKS)
        by_python = text.read("ndjson", lines[0], wanted)
        judge = by_duckdb if writer is by_pyarrow else by_pyarrow
        by_other = judge.read("parquet", parquet[0], wanted)
    except (job.Failure, ValueError, ArithmeticError) as error:
        board.fail(f"{what}: {str(error)[:1500]}")
        return
    for c in wanted:
        want = c.truths() * files
        for got in (by_python[c.name], by_other[c.name]):
            board.compare(what, c, got, cell, of[c.name], want)
    job.remove(at)
    job.remove(folder)


def write_all(writer, format, folder, columns, of, how):
    """Writes a file for each layout, and gives how many."""
    texts = frozenset(c.name for c in columns if of[c.name] and of[c.name].mode == TEXT)
    table = by_pyarrow.table([as_text(c) if c.name in texts and writer is not by_duckdb else c for c in columns])
    all_ = [{}]
    if format == "parquet" and how != "one":
        all_ = layouts({"pyarrow": PYARROW, "DuckDB": DUCKDB, "Polars": POLARS}[writer.NAME], how == "long")
        all_ += ODD + [codings(columns)] if writer is by_pyarrow else []
    for i, layout in enumerate(all_):
        writer.write(format, os.path.join(folder, f"{i:03d}.{format}"), table, columns, texts, **layout)
    return len(all_)


def as_text(column):
    """A column of the texts that stand for values."""
    return corpus.Column(column.name, corpus.Kind(column.kind.name, "string"), [v and corpus.Value(v.text, text_of(column.type, v.truth)) for v in column.rows])


def text_of(type_, truth):
    if type_ == "binary":
        return base64.b64encode(truth).decode()
    return truth if isinstance(truth, str) else json.dumps(truth)


def as_bytes(column):
    """A column of the bytes that a writer has instead of values."""
    def data(truth):
        return bytes.fromhex(truth.replace("-", "")) if column.type == "uuid" else truth.encode()

    return corpus.Column(column.name, corpus.Kind(column.kind.name, "binary"), [v and corpus.Value(v.text, data(v.truth)) for v in column.rows])


def check_limits(runner, board, writer, format, columns):
    """Writes each kind that has a limit as if it had none: that must fail, or we must refuse the file, or read other values."""
    for kind in {c.kind.name: c.kind for c in columns}.values():
        limit = limits.find(TAKEN, format, writer.NAME, kind)
        if limit is None or limit.mode == BYTES or kind.type in writer.LACKS:
            continue
        mine = corpus.table([kind], len(kind.values), ("none",))
        folder = runner.folder()
        path = os.path.join(folder, f"x.{format}")
        if limits.quietly(lambda: writer.write(format, path, by_pyarrow.table(mine), mine, frozenset())) is limits.FAILED:
            continue
        source = {"path": path, "format": format, "columns": job.declared(mine), **({format: FIELDS[format]} if format in FIELDS else {})}
        at, code, said = runner.start(source, SINKS[:1])
        if code not in (0, 65):
            board.fail(f"{writer.NAME} writes {kind.name} as {format}: exit {code}: {said}")
        if code == 0 and limits.quietly(lambda: text.read("ndjson", job.artifacts(os.path.join(at, "out0"))[0], mine)) == {c.name: c.truths() for c in mine}:
            board.fail(f"{writer.NAME} writes {kind.name} as {format} so that we read it, and the list of limits says: {limit.reason}")
        job.remove(at)
        job.remove(folder)
