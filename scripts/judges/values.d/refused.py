"""Values that a type does not hold are refused, and never made others: the records are put aside, with their place and their text,
and without on_bad_row: reject the run ends with 65 and nothing is visible."""

import glob
import json
import os
import re

import corpus
import job
import text

# Beside those of testdata/values/refused.ndjson: bytes that no JSON file can have. Type, and text of CSV and of NDJSON.
BYTES = [("string", b"\xff", b'"\xff"'), ("string", b"caf\xe9", b'"caf\xe9"'), ("string", b"\xed\xa0\x80", b'"\xed\xa0\x80"'), ("json", b'"""\xff"""', b'"\xff"')]
NUL = [("string", b"a\x00b", None)]
RAW_FAILS = 12  # records of which each format is tried alone


def cases():
    """Yields types and values' texts, of CSV and of NDJSON, None where the value is not refused."""
    with open(os.path.join(corpus.FOLDER, "refused.ndjson"), encoding="utf-8", newline="\n") as f:
        for line in f:
            at, said = line[5 : corpus.DECODER.raw_decode(line, 5)[1]], json.loads(line)
            value = corpus.Value(at, None)
            column = corpus.Column("", corpus.Kind("", said["type"]), [])
            in_csv = text.csv_field(column, value)
            if said["type"] == "json":  # in the corpus it stands in a string
                in_csv = '"' + said["v"].replace('"', '""') + '"'
            only = said.get("only", "")
            yield said["type"], None if only == "ndjson" else in_csv.encode(), None if only == "csv" else at.encode()
    yield from BYTES + NUL


def run(runner, board):
    by_format(runner, board, "csv", [(type_, data) for type_, data, _ in cases() if data is not None])
    by_format(runner, board, "ndjson", [(type_, data) for type_, _, data in cases() if data is not None])


def by_format(runner, board, format, found):
    """Every second record is good: all of them must be exported, and all bad ones put aside."""
    types = list(dict.fromkeys(type_ for type_, _ in found))
    columns = [{"name": "id", "type": "int64"}] + [{"name": f"c{k}", "type": type_} for k, type_ in enumerate(types)]
    records = []
    for i, (type_, data) in enumerate(found):
        fields = [b""] * len(types)
        records.append((2 * i, None, b"%d," % (2 * i) + b",".join(fields) if format == "csv" else b'{"id":%d}' % (2 * i)))
        k = types.index(type_)
        fields[k] = data
        bad = b"%d," % (2 * i + 1) + b",".join(fields) if format == "csv" else b'{"id":%d,"c%d":%s}' % (2 * i + 1, k, data)
        records.append((2 * i + 1, f"c{k}", bad))
    head = b",".join(c["name"].encode() for c in columns) + b"\n" if format == "csv" else b""
    folder = runner.folder()
    path = write(folder, format, head, records)
    rejects = os.path.join(folder, "rejects")
    source = {"path": path, "format": format, "columns": columns}
    at, outs = runner.run(source, [("ndjson", {})], on_bad_row="reject", rejects_to=rejects)
    put_aside(board, format, rejects, records, len(head))
    with open(outs[0][0], "rb") as f:
        good = [json.loads(line)["id"] for line in f]
    if good != [i for i, bad, _ in records if bad is None]:
        board.fail(f"{format}: of records among bad ones those with the ids {good[:20]} are exported")
    for record in [r for r in records if r[1]][:: max(1, len(found) // RAW_FAILS)]:
        alone(runner, board, format, head, record, columns)


def write(folder, format, head, records):
    path = os.path.join(folder, f"refused.{format}")
    with open(path, "wb") as f:
        f.write(head + b"".join(data + b"\n" for _, _, data in records))
    return path


def put_aside(board, format, rejects, records, head):
    """Each bad record is there once, in order, under its column, with its line, and its text byte by byte."""
    said = []
    for path in sorted(glob.glob(os.path.join(rejects, "*.rejects.ndjson"))):
        with open(path, encoding="utf-8") as f:
            said += [json.loads(line) for line in f]
    line, want = 1 + bool(head), []
    for _, bad, data in records:
        if bad:
            want.append((line, bad, data))
        line += data.count(b"\n") + 1
    got = [(r["line"], r["column"].split(".")[0], raw_of(r)) for r in said]
    board.values += len(want)
    for w in want:
        if w not in got:
            board.fail(f"{format}: a record that must be refused is not put aside: line {w[0]}, column {w[1]}: {w[2][:100]!r}")
    for g in got:
        if g not in want:
            board.fail(f"{format}: a record is put aside otherwise than it stands: line {g[0]}, column {g[1]}: {g[2][:100]!r}")
    if any(not r["reason"] or r["file"] is None for r in said):
        board.fail(f"{format}: a record is put aside without a reason, or a file")


def raw_of(record):
    return record["raw"].encode() if record["raw"] is not None else corpus.of_text("binary", record["raw_base64"])


def alone(runner, board, format, head, record, columns):
    """One bad record ends the run: 65, nothing visible, and the message names file, line and column."""
    folder = runner.folder()
    path = write(folder, format, head, [record])
    at, code, said = runner.start({"path": path, "format": format, "columns": columns}, [("ndjson", {})])
    line = 1 + bool(head)
    visible = [p for p in glob.glob(os.path.join(at, "out0", "*"))]
    if code != 65 or visible or not re.search(re.escape(f"{path}:{line}: ") + f".*column {record[1]}\\b", said):
        board.fail(f"{format}: {record[2][:100]!r}: exit {code}, visible {visible}, {said[-1500:]}")
    job.remove(at)
    job.remove(folder)
