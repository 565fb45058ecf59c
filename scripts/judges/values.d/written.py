"""We write, they read: the corpus is exported to every format, and judges compare what they read with the truth."""

import os

import by_duckdb
import by_polars
import by_pyarrow
import job
import limits
import text
from limits import NONE, TEXT, WRITTEN

JUDGES = (by_pyarrow, by_duckdb, by_polars)
CSV, NDJSON = {"nul": "keep"}, {"nonfinite": "string"}
SINKS = [("parquet", {}), ("csv", CSV), ("ndjson", NDJSON)]
VARIANTS = [("parquet", {"compat": "true"}), ("csv", CSV | {"compression": "gzip"}), ("csv", CSV | {"compression": "zstd"}),
            ("ndjson", NDJSON | {"compression": "gzip"}), ("ndjson", NDJSON | {"compression": "zstd"})]


def sources(folder, name, columns):
    """Writes the table in each format, and gives the sections of jobs that read it."""
    found = []
    for format in ("csv", "ndjson", "parquet"):
        path = os.path.join(folder, f"{name}.{format}")
        if format == "parquet":
            by_pyarrow.write(format, path, by_pyarrow.table(columns), columns, row_group_size=50)
        else:
            text.WRITERS[format](path, columns)
        options = {"csv": {"nul": "keep"}} if format == "csv" else {}
        found.append({"path": path, "format": format, "columns": job.declared(columns), **options})
    return found


def run(runner, board, sources, columns, sinks=SINKS, limits_too=False, **more):
    """Exports each source to all sinks, and judges these. more is for the job: with several subtasks rows come in any order."""
    for n, source in enumerate(sources):
        try:
            at, outs = runner.run(source, sinks, **more)
        except job.Failure as failure:
            board.fail(str(failure))
            continue
        for (sink, dialect), files in zip(sinks, outs):
            what = f"{source['format']} to {sink} {dialect or ''}".rstrip()
            judge(board, what, sink, files, columns, dialect.get("compat") == "true")
            if limits_too and n == 0 and not dialect.keys() & {"compat", "compression"}:
                check_limits(board, what, sink, files[0], columns)
        job.remove(at)


def judge(board, what, format, paths, columns, compat=False):
    if not paths:
        board.fail(f"{what}: there is no artifact")
    if format in text.READERS:
        by_reader(board, what, format, paths, columns, compat, text)
    if format == "ndjson" and not columns[0].rows:
        return  # a file of no lines has no bytes, which readers refuse
    for reader in JUDGES:
        by_reader(board, what, format, paths, columns, compat, reader)


def by_reader(board, what, format, paths, columns, compat, reader):
    cell, what = (WRITTEN, format, reader.NAME), f"{what}: {reader.NAME}"
    of = {c.name: limits.find(WRITTEN, format, reader.NAME, c.kind) for c in columns}
    for c in columns:
        if of[c.name] and of[c.name].mode == NONE:
            board.mark(c.kind, cell, of[c.name])
    wanted = [c for c in columns if not of[c.name] or of[c.name].mode != NONE]
    as_text = frozenset(c.name for c in wanted if of[c.name] and of[c.name].mode == TEXT)
    if poisoned(format, reader, columns):
        return
    got = {c.name: [] for c in columns}
    for path in paths:
        try:
            # DuckDB finds fields of CSV by their place, so it is told of all of them.
            for name, values in reader.read(format, path, columns if format == "csv" or reader is text else wanted, as_text, compat).items():
                got[name] += values
        except Exception as error:  # whatever a reader raises is what it says of the file
            board.fail(f"{what} reads {path}: {type(error).__name__}: {str(error)[:400]}")
            return
    order = sorted(range(len(got["id"])), key=got["id"].__getitem__) if len(paths) > 1 else None
    for c in wanted:
        board.compare(what, c, [got[c.name][i] for i in order] if order else got[c.name], cell, of[c.name])


def poisoned(format, reader, columns):
    """Numbers beyond float64 make pyarrow and Polars refuse the whole line, whichever columns are asked for."""
    return format == "ndjson" and reader in (by_pyarrow, by_polars) and any("beyond" in c.kind.name for c in columns)


def check_limits(board, what, format, path, columns):
    """Reads each column that has a limit as if it had none, which must fail."""
    for reader in JUDGES:
        for kind in {c.kind.name: c.kind for c in columns}.values():
            limit = limits.find(WRITTEN, format, reader.NAME, kind)
            if limit is None or kind.type in reader.LACKS:
                continue
            mine = [c for c in columns if c.kind is kind and any(v is not None for v in c.rows)]
            others = frozenset(c.name for c in columns if c not in mine)
            got = limits.quietly(lambda: reader.read(format, path, columns if format == "csv" and reader is by_duckdb else mine, others))
            if got is not limits.FAILED and all(list(got[c.name]) == c.truths() for c in mine):
                board.fail(f"{what}: {reader.NAME} reads {kind.name}, and the list of limits says: {limit.reason}")
