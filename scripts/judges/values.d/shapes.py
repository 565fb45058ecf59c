"""Tables of other shapes: no rows, one, many in several artifacts, 1,000 columns, values of 70 MB; and other time zones."""

import glob
import os
import re

import by_pyarrow
import corpus
import job
import taken
import text
import written

BIG = 70 << 20
TOKEN = re.compile(rb"\d{8}t\d{6}z[0-9a-f]{8}")
ZONES = ({"TZ": "UTC", "LC_ALL": "C"}, {"TZ": "Asia/Seoul", "LC_ALL": "tr_TR.UTF-8"}, {"TZ": "America/St_Johns", "LANG": "de_DE.UTF-8"})


def few_rows(runner, board, kinds):
    """No rows, and one, which is NULL in some columns."""
    for rows in (0, 1):
        columns = corpus.table(kinds, rows)
        written.run(runner, board, written.sources(runner.folder(), f"{rows}-rows", columns), columns)
        taken.run(runner, board, columns, "one")


def many_rows(runner, board, kinds, rows):
    """Several artifacts of two subtasks."""
    columns = corpus.table(kinds, rows)
    sources = written.sources(runner.folder(), "many-rows", columns)
    written.run(runner, board, sources, columns, subtasks=2, checkpoint={"rows": rows // 4})


def many_columns(runner, board, kinds, n):
    """So many columns, of all kinds in turn."""
    tables = corpus.table(kinds, 3)
    columns = [tables[0]] + [corpus.Column(f"c{i:04d}_{c.name}", c.kind, c.rows) for i, c in ((i, tables[1 + i % (len(tables) - 1)]) for i in range(n - 1))]
    written.run(runner, board, written.sources(runner.folder(), "many-columns", columns), columns)


def big_values(runner, board):
    """A value of 70 MB of each type that can have one: by every pair of formats, and refused by CSV unless it is allowed."""
    for type_, big, small in corpus.big_texts(BIG):
        values = [corpus.Value(t, corpus.of_json(type_, corpus.load(t))) for t in (small, big, small)]
        kind = corpus.Kind(f"{type_}, 70 MB", type_, values)
        columns = [corpus.Column("id", corpus.Kind("id", "int64"), [corpus.Value(str(i), i) for i in range(3)]), corpus.Column("big", kind, values)]
        for source in written.sources(runner.folder(), "big", columns):
            if source["format"] == "csv":
                refused(runner, board, source)
                source["csv"] = {"max_field": "256MiB"}
            at, outs = runner.run(source, written.SINKS)
            for (sink, _), files in zip(written.SINKS, outs):
                reader = by_pyarrow if sink == "parquet" else text
                got = reader.read(sink, files[0], columns)
                board.compare(f"{source['format']} to {sink}", columns[1], got["big"], (written.WRITTEN, sink, reader.NAME))
            job.remove(at)


def refused(runner, board, source):
    at, code, said = runner.start(source, written.SINKS[:1])
    if code != 65 or "max_field" not in said or glob.glob(os.path.join(at, "out0", "*")):
        board.fail(f"csv with a field of {BIG} bytes: exit {code}: {said[-2000:]}")


def time_zones(runner, board, kinds):
    """The same job under other time zones and locales writes the same bytes, but for the run's token."""
    columns = corpus.table(kinds, corpus.MIXED, ("none",))
    sources = written.sources(runner.folder(), "zones", columns)
    sources += [{k: v for k, v in source.items() if k != "columns"} for source in sources if source["format"] != "parquet"]  # inferred
    for source in sources:
        seen = []
        for zone in ZONES:
            at, outs = runner.run(source, written.SINKS, env=zone)
            seen.append([blank(path) for files in outs for path in files])
            job.remove(at)
        for zone, artifacts in zip(ZONES, seen):
            if artifacts != seen[0]:
                board.fail(f"{source['format']} under {zone}: other bytes than under {ZONES[0]}")


def blank(path):
    """A file's bytes, with the run's token, of which Parquet's metadata speak, made zeros."""
    with open(path, "rb") as f:
        return TOKEN.sub(bytes(26), f.read())
