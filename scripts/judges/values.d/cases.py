"""Small sources that exporters have been seen to get wrong: what must come out, or what must be said."""

import glob
import json
import os
import time

import pyarrow as pa
import pyarrow.parquet

import job

NDJSON = [("ndjson", {})]
LONG_ROWS = 300_000

# name, format, source, more of the source's section, sinks, and the lines of NDJSON that must come out
EXPORTED = [
    ("ids that outgrow int64", "csv", "id\n2147483648\n9999999999\n18446744073709551616\n", {}, NDJSON,
     ['{"id":2147483648}', '{"id":9999999999}', '{"id":18446744073709551616}']),
    ("phone numbers", "csv", "phone,zip\n0049301234,007\n+49301234,10115\n", {}, NDJSON,
     ['{"phone":"0049301234","zip":"007"}', '{"phone":"+49301234","zip":"10115"}']),
    ("integers and decimals in one column", "csv", "v\n9007199254740993\n0.5\n", {}, NDJSON, ['{"v":9007199254740993.0}', '{"v":0.5}']),
    ("the same in NDJSON", "ndjson", '{"v":9007199254740993}\n{"v":0.5}\n', {"sample_rows": 100}, NDJSON, ['{"v":9007199254740993.0}', '{"v":0.5}']),
    ("a big integer in NDJSON", "ndjson", '{"id":9007199254740993}\n', {"columns": "id:int64"}, NDJSON, ['{"id":9007199254740993}']),
    ("unsigned integers", "csv", "a,b\n3349714808,18446744073709551615\n", {"columns": "a:uint32,b:uint64"}, NDJSON, ['{"a":3349714808,"b":18446744073709551615}']),
    ("empty, NULL, and the text NULL", "csv", 'a,b\n"",\nNULL,"NULL"\n', {"columns": "a:string,b:string"}, NDJSON, ['{"a":"","b":null}', '{"a":"NULL","b":"NULL"}']),
    ("line ends in quotes", "csv", 'a\r\n"x\r\ny"\r\n"x\ry"\r\n"x\ny"\r\n', {"columns": "a:string"}, NDJSON, ['{"a":"x\\r\\ny"}', '{"a":"x\\ry"}', '{"a":"x\\ny"}']),
    ("a byte order mark and a quoted header", "csv", '\ufeff"a","b"\n1,2\n', {"columns": "a:int64,b:int64"}, NDJSON, ['{"a":1,"b":2}']),
    ("a dialect without quotes", "csv", 'a\n5" pipe\n', {"columns": "a:string", "csv": {"quote": "none"}}, NDJSON, ['{"a":"5\\" pipe"}']),
    ("a decimal keeps its zeros", "csv", "a\n1.10\n", {"columns": "a:decimal(18,2)"}, NDJSON, ['{"a":1.10}']),
    ("NaN as a string", "csv", "a\nNaN\n-inf\n", {"columns": "a:float64"}, [("ndjson", {"nonfinite": "string"})], ['{"a":"NaN"}', '{"a":"-Infinity"}']),
    ("NaN as null", "csv", "a\nNaN\n1\n", {"columns": "a:float64"}, [("ndjson", {"nonfinite": "null"})], ['{"a":null}', '{"a":1}']),
    ("surrogate pairs", "ndjson", '{"a":"\\ud83d\\ude00"}\n', {"columns": "a:string"}, NDJSON, ['{"a":"😀"}']),
    ("no rows", "csv", "a\n", {"columns": "a:int64"}, NDJSON, []),
]

# name, format, source, more of the source's section, and what must be said; from a colon on it comes after the file's name
REFUSED = [
    ("an id beyond what the sample showed", "csv", "id\n2147483648\n9999999999\n18446744073709551616\n", {"sample_rows": 2}, ':4: column id: "18446744073709551616"'),
    ("a letter in a numeric column", "csv", "n\n1\nA\n3\n", {"columns": "n:int64"}, ':3: column n: "A"'),
    ("a number of 45 digits", "csv", "n\n" + "1" * 45 + "\n", {"columns": "n:decimal(38,0)"}, ":2: column n: "),
    ("NaN as a decimal", "csv", "n\nNaN\n", {"columns": "n:decimal(38,2)"}, ':2: column n: "NaN"'),
    ("NaN in NDJSON", "csv", "n\nNaN\n", {"columns": "n:float64"}, ':2: column n: "NaN"'),
    ("a timestamp without end", "csv", "n\ninfinity\n", {"columns": "n:timestamp"}, ':2: column n: "infinity"'),
    ("MySQL's date 0", "csv", "n\n0000-00-00\n", {"columns": "n:date"}, ':2: column n: "0000-00-00"'),
    ("a quote that is not closed, in a long file", "csv", "a,b\n1,x\n2,\"y\n" + "3,zzzzzzzzzzzzzzzzzzzzzzzzz\n" * LONG_ROWS, {"columns": "a:int64,b:string"}, ":3: "),
    ("UTF-16", "csv", "a\n1\n".encode("utf-16"), {"columns": "a:int64"}, "UTF-16"),
    ("an object that goes on", "ndjson", '{"a":1} {"a":2}\n', {"columns": "a:int64"}, ":1: "),
    ("a key twice", "ndjson", '{"a":1,"a":2}\n', {"columns": "a:int64"}, ":1: column a: "),
]


def run(runner, board):
    for case in EXPORTED:
        exported(runner, board, *case)
    for case in REFUSED:
        refused(runner, board, *case)
    beside(runner, board)
    for name, array, type_ in strange_arrays():
        strange(runner, board, name, array, type_)


def source(runner, format, data, more):
    path = os.path.join(runner.folder(), f"case.{format}")
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return {"path": path, "format": format, **more}


def exported(runner, board, name, format, data, more, sinks, want):
    at, outs = runner.run(source(runner, format, data, more), sinks)
    board.values += len(want)
    got = [line for path in outs[0] for line in open(path, encoding="utf-8", newline="\n").read().splitlines()]
    if got != want:
        board.fail(f"{name}: {got[:5]} comes out, and not {want[:5]}")
    if "null" in str(sinks) and manifest(at)["nulled"] != 1:
        board.fail(f"{name}: the manifest does not count what became NULL")


def manifest(at):
    with open(glob.glob(os.path.join(at, "out0", "_manifest-*.json"))[0]) as f:
        return json.load(f)


def refused(runner, board, name, format, data, more, says):
    from_ = source(runner, format, data, more)
    began = time.monotonic()
    at, code, said = runner.start(from_, NDJSON)
    board.values += 1
    if says.startswith(":"):
        says = from_["path"] + says
    if code != 65 or visible(at) or says not in said:
        board.fail(f"{name}: exit {code}, visible {visible(at)}: {said[-800:]}")
    if time.monotonic() - began > 10:
        board.fail(f"{name}: it took {time.monotonic() - began:.1f} s to say so")


def visible(at):
    return glob.glob(os.path.join(at, "out0", "*"))


def beside(runner, board):
    """Types of Parquet that have others beside them, as Arrow has them, and what each is read as."""
    ms = [1, None, 86399999]
    arrays = {
        "dictionary": (pa.array(["a", None, "a"]).dictionary_encode(), ["a", None, "a"]),
        "large_string": (pa.array(["a", None, ""], pa.large_string()), ["a", None, ""]),
        "string_view": (pa.array(["a", None, ""], pa.string_view()), ["a", None, ""]),
        "large_list": (pa.array([[1], None, []], pa.large_list(pa.int64())), [[1], None, []]),
        "fixed_list": (pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2)), [[1, 2], None, [3, 4]]),
        "map": (pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())), [[{"key": "a", "value": 1}], None, []]),
        "float16": (pa.array([1.5, None, 65504], pa.float16()), [1.5, None, 65504]),
        "time32": (pa.array(ms, pa.int32()).cast(pa.time32("ms")), ["00:00:00.001000", None, "23:59:59.999000"]),
        "timestamp_ms": (pa.array(ms, pa.int64()).cast(pa.timestamp("ms")), ["1970-01-01 00:00:00.001000", None, "1970-01-01 23:59:59.999000"]),
        "timestamp_s": (pa.array(ms, pa.int64()).cast(pa.timestamp("s", "Asia/Seoul")), ["1970-01-01 00:00:01Z", None, "1972-09-26 23:59:59Z"]),
        "date64": (pa.array([86400000, None, -86400000], pa.int64()).cast(pa.date64()), ["1970-01-02", None, "1969-12-31"]),
        "fixed_binary": (pa.array([b"abc", None, b"\0\0\0"], pa.binary(3)), ["YWJj", None, "AAAA"]),
        "null": (pa.nulls(3), [None, None, None]),
    }
    path = os.path.join(runner.folder(), "case.parquet")
    pa.parquet.write_table(pa.table({name: array for name, (array, _) in arrays.items()}), path)
    _, outs = runner.run({"path": path, "format": "parquet"}, NDJSON)
    with open(outs[0][0], encoding="utf-8") as f:
        got = [json.loads(line) for line in f]
    for name, (_, want) in arrays.items():
        board.values += len(want)
        if [row[name] for row in got] != want:
            board.fail(f"Arrow's {name} in Parquet: {[row[name] for row in got]} comes out, and not {want}")


def strange_arrays():
    """Values that Parquet can have, and the type that stands for it has not. Each is between two good ones."""
    yield "a nanosecond", pa.array([0, 1, 2000], pa.int64()).cast(pa.timestamp("ns")), "timestamp"
    yield "a year beyond 9999", pa.array([0, 2932897, 1], pa.int32()).cast(pa.date32()), "date"
    yield "a timestamp beyond 9999", pa.array([0, 253402300800000000, 1], pa.int64()).cast(pa.timestamp("us")), "timestamp"
    yield "a timestamp before the year 1", pa.array([0, -62135596800000001, 1], pa.int64()).cast(pa.timestamp("us", "UTC")), "timestamptz"
    yield "a day of 24 hours", pa.array([0, 86400000000, 1], pa.int64()).view(pa.time64("us")), "time"
    data = pa.array([b"a", b"\xff", b"b"])
    yield "a string that is not UTF-8", pa.StringArray.from_buffers(3, *data.buffers()[1:], data.buffers()[0]), "string"


def strange(runner, board, name, array, type_):
    """It ends the run, or is put aside; the good ones come out."""
    path = os.path.join(runner.folder(), "case.parquet")
    pa.parquet.write_table(pa.table({"v": array}), path)
    at, code, said = runner.start({"path": path, "format": "parquet", "columns": f"v:{type_}"}, NDJSON)
    if code != 65 or visible(at) or path not in said or "column v" not in said:
        board.fail(f"{name} in Parquet: exit {code}, visible {visible(at)}: {said[-800:]}")
    rejects = os.path.join(at, "rejects")
    at, code, said = runner.start({"path": path, "format": "parquet", "columns": f"v:{type_}"}, NDJSON, on_bad_row="reject", rejects_to=rejects)
    aside = [json.loads(line) for p in glob.glob(os.path.join(rejects, "*.rejects.ndjson")) for line in open(p, encoding="utf-8")]
    board.values += 3
    good = sum(open(p, encoding="utf-8").read().count("\n") for p in job.artifacts(os.path.join(at, "out0")))
    if code or [(r["row"], r["column"]) for r in aside] != [(2, "v")] or good != 2:
        board.fail(f"{name} in Parquet, with on_bad_row: reject: exit {code}, {aside} are put aside, and {good} rows come out: {said[-500:]}")
