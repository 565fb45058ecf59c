"""Makes the files that the reader is tested with, by pyarrow, DuckDB and Polars, and beside each what is in it: the columns as the
reader is to give them, and the rows as texts. The texts are made from the Python values that the files are made from.

  python3 format/parquet/testdata/make.py        (pyarrow 26, duckdb 2, polars 2)
"""

import datetime as dt
import json
import os
import uuid
from decimal import Decimal

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
UTC = dt.timezone.utc


def text(x, kind=""):
    if x is None:
        return None
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, bytes):
        import base64
        return base64.b64encode(x).decode()
    if isinstance(x, dt.datetime):
        z = "Z" if x.tzinfo else ""
        x = x.replace(tzinfo=None)
        return x.strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0") + (f".{x.microsecond:06d}" if x.microsecond else "") + z
    if isinstance(x, dt.time):
        return x.strftime("%H:%M:%S") + (f".{x.microsecond:06d}" if x.microsecond else "")
    if isinstance(x, dt.date):
        return x.isoformat()
    if isinstance(x, float):
        return {"1.5": "1.5", "nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(x), repr(x))
    if isinstance(x, (list, dict)):
        return json.dumps(plain(x), separators=(",", ":"), ensure_ascii=False)
    return str(x)


class Number(float):
    """A decimal as JSON has it."""
    def __new__(cls, d):
        self = float.__new__(cls, d)
        self.d = d
        return self

    def __repr__(self):
        return str(self.d)


def plain(x):
    if isinstance(x, list):
        return [plain(v) for v in x]
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return x


def say(name, columns, rows):
    with open(os.path.join(HERE, name + ".json"), "w") as f:
        json.dump({"columns": columns, "rows": [[text(v) for v in row] for row in rows]}, f, ensure_ascii=False, indent=0)
        f.write("\n")


def write(name, columns, table, **options):
    pq.write_table(table, os.path.join(HERE, name + ".parquet"), **options)
    say(name, columns, list(zip(*[c.to_pylist() for c in table.columns])))


def main():
    os.makedirs(HERE, exist_ok=True)
    for f in os.listdir(HERE):
        os.remove(os.path.join(HERE, f))
    n = 40
    ints = [None if i % 7 == 3 else i * 1000003 - 5 for i in range(n)]
    texts = [None if i % 5 == 2 else f"text {i % 6} é" for i in range(n)]
    flags = [None if i % 9 == 1 else i % 3 == 0 for i in range(n)]
    floats = [None if i % 8 == 0 else i / 4 + 0.125 for i in range(n)]
    blobs = [None if i % 6 == 0 else bytes([i, 255 - i]) for i in range(n)]
    table = pa.table({"i": pa.array(ints, pa.int64()), "s": pa.array(texts), "b": pa.array(flags), "f": pa.array(floats), "x": pa.array(blobs, pa.binary())})
    columns = "i:int64,s:string,b:bool,f:float64,x:binary"
    for codec in ("none", "snappy", "gzip", "zstd", "brotli", "lz4"):
        for version in ("1.0", "2.0"):
            for dictionary in (True, False):
                write(f"codec-{codec}-v{version[0]}-{'dict' if dictionary else 'plain'}", columns, table, compression=codec, data_page_version=version,
                      use_dictionary=dictionary, row_group_size=17, data_page_size=64, write_batch_size=8, write_page_checksum=True)
    for i, coding in enumerate(({"i": "DELTA_BINARY_PACKED", "s": "DELTA_LENGTH_BYTE_ARRAY", "b": "RLE", "f": "BYTE_STREAM_SPLIT", "x": "DELTA_BYTE_ARRAY"},
                                {"i": "BYTE_STREAM_SPLIT", "s": "DELTA_BYTE_ARRAY", "b": "PLAIN", "f": "PLAIN", "x": "DELTA_LENGTH_BYTE_ARRAY"})):
        for version in ("1.0", "2.0"):
            write(f"coding-{i}-v{version[0]}", columns, table, use_dictionary=False, column_encoding=coding, data_page_version=version, row_group_size=23, data_page_size=100,
                  write_batch_size=10)

    small = lambda t, v: pa.array([v[0], None, v[1]], t)
    write("ints", "a:int8,b:int16,c:int32,d:int64,e:uint8,f:uint16,g:uint32,h:uint64", pa.table({
        "a": small(pa.int8(), (-128, 127)), "b": small(pa.int16(), (-32768, 32767)), "c": small(pa.int32(), (-2**31, 2**31 - 1)), "d": small(pa.int64(), (-2**63, 2**63 - 1)),
        "e": small(pa.uint8(), (0, 255)), "f": small(pa.uint16(), (0, 65535)), "g": small(pa.uint32(), (2**31, 2**32 - 1)), "h": small(pa.uint64(), (2**63, 2**64 - 1))}))
    wide = Decimal("12345678901234567890123456789012345678")
    for name, option in (("fixed", False), ("integer", True)):
        write(f"decimals-{name}", "a:decimal(5,2),b:decimal(18,4),c:decimal(38,0),d:decimal(38,38)", pa.table({
            "a": small(pa.decimal128(5, 2), (Decimal("-999.99"), Decimal("0.01"))), "b": small(pa.decimal128(18, 4), (Decimal("-99999999999999.9999"), Decimal("1.0000"))),
            "c": small(pa.decimal128(38, 0), (-wide, wide)), "d": small(pa.decimal128(38, 38), (Decimal("-0.12345678901234567890123456789012345678"), Decimal(0).scaleb(-38)))}),
            store_decimal_as_integer=option)
        fix(f"decimals-{name}")
    moment = dt.datetime(2026, 3, 29, 2, 30, 0, 123000)
    for unit in ("ms", "us", "ns"):
        write(f"times-{unit}", "a:timestamp,b:timestamptz,c:time", pa.table({
            "a": small(pa.timestamp(unit), (moment, dt.datetime(1969, 12, 31, 23, 59, 59, 999000))),
            "b": small(pa.timestamp(unit, "UTC"), (moment.replace(tzinfo=UTC), dt.datetime(1900, 1, 1, tzinfo=UTC))),
            "c": small(pa.time32(unit) if unit == "ms" else pa.time64(unit), (dt.time(23, 59, 59, 999000), dt.time(0, 0)))}))
    write("int96", "a:timestamp", pa.table({"a": small(pa.timestamp("us"), (moment, dt.datetime(1900, 1, 1, 1, 2, 3)))}), use_deprecated_int96_timestamps=True)
    write("others", "a:date,b:float32,c:float32,d:uuid,e:json,f:binary,g:string", pa.table({
        "a": small(pa.date32(), (dt.date(1, 1, 1), dt.date(9999, 12, 31))), "b": small(pa.float32(), (1.5, float("-inf"))), "c": small(pa.float16(), (1.5, float("nan"))),
        "d": small(pa.uuid(), (uuid.UUID(int=1).bytes, uuid.UUID(int=2**127).bytes)), "e": small(pa.json_(), ('{"a":1}', "[]")), "f": small(pa.binary(3), (b"abc", b"\0\xff\0")),
        "g": pa.array(["x", None, "y"]).dictionary_encode()}))
    lists = [[1, None, 3], None, [], [4], [None], list(range(50))] * 3
    structs = [{"p": 1, "q": ["a", None]}, None, {"p": None, "q": None}, {"p": 4, "q": []}, {"p": 5, "q": ["x"]}, {"p": 6, "q": ["y", "z"]}] * 3
    deep = [[[{"k": 1}], [], None], None, [], [[None, {"k": None}]], [[{"k": 2}, {"k": 3}]], [[]]] * 3
    nested = pa.table({"l": pa.array(lists, pa.list_(pa.int64())), "s": pa.array(structs, pa.struct([("p", pa.int32()), ("q", pa.list_(pa.string()))])),
                       "d": pa.array(deep, pa.list_(pa.list_(pa.struct([("k", pa.int8())]))))})
    for version in ("1.0", "2.0"):
        for compliant in (True, False):
            write(f"nested-v{version[0]}-{compliant}", "l:list<int64>,s:struct<p:int32,q:list<string>>,d:list<list<struct<k:int8>>>", nested, data_page_version=version,
                  use_compliant_nested_type=compliant, row_group_size=7, data_page_size=40, write_batch_size=3)
    maps = [[("a", 1), ("b", None)], None, []]
    pq.write_table(pa.table({"m": pa.array(maps, pa.map_(pa.string(), pa.int64()))}), os.path.join(HERE, "map.parquet"))
    say("map", "m:list<struct<key:string!,value:int64>!>", [[None if m is None else [{"key": k, "value": v} for k, v in m]] for m in maps])
    write("empty", "a:int64,b:string", pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}))
    pq.ParquetWriter(os.path.join(HERE, "no-groups.parquet"), pa.schema([("a", pa.int64())])).close()
    say("no-groups", "a:int64", [])

    runs = [None if i % 41 == 7 else (i // 13) % 2 == 0 if i % 100 < 60 else i % 3 == 0 for i in range(700)]
    bools = pa.table({"b": pa.array(runs), "r": pa.array([bool(x) for x in runs], pa.bool_()), "l": pa.array([[runs[i], True] * (i % 3) for i in range(700)], pa.list_(pa.bool_()))},
                     schema=pa.schema([("b", pa.bool_()), pa.field("r", pa.bool_(), nullable=False), ("l", pa.list_(pa.bool_()))]))
    for version in ("1.0", "2.0"):
        write(f"bools-v{version[0]}", "b:bool,r:bool!,l:list<bool>", bools, data_page_version=version, column_encoding={c: "RLE" for c in ("b", "r", "l.list.element")},
              use_dictionary=False, row_group_size=450, data_page_size=60, write_batch_size=50, compression="snappy")

    rows = [(i, None if i % 3 == 0 else f"d{i % 4}", Decimal(i) / 4, [i, None] if i % 2 else None) for i in range(50)]
    db = duckdb.connect()
    db.execute("CREATE TABLE t (i BIGINT, s VARCHAR, d DECIMAL(10,2), l INTEGER[])")
    db.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    for version in ("V1", "V2"):
        db.execute(f"COPY (SELECT * FROM t ORDER BY i) TO '{os.path.join(HERE, f'duckdb-{version}.parquet')}' (FORMAT parquet, PARQUET_VERSION {version}, ROW_GROUP_SIZE 2048)")
        say(f"duckdb-{version}", "i:int64!,s:string,d:decimal(10,2)!,l:list<int32>", [(i, s, f"{d:.2f}", l) for i, s, d, l in rows])
    db.execute("CREATE TABLE w (a INTEGER, b BIGINT)")
    far = [((-1) ** i * (2**31 - 1 - i * 17), (-1) ** i * (2**63 - 1 - i * 10**15)) for i in range(300)]
    db.executemany("INSERT INTO w VALUES (?, ?)", far)
    db.execute(f"COPY w TO '{os.path.join(HERE, 'duckdb-deltas.parquet')}' (FORMAT parquet, PARQUET_VERSION V2, DICTIONARY_SIZE_LIMIT 1)")
    say("duckdb-deltas", "a:int32!,b:int64!", far)
    frame = polars.DataFrame({"i": [r[0] for r in rows], "s": [r[1] for r in rows], "l": [r[3] for r in rows]}, schema={"i": polars.Int64, "s": polars.String, "l": polars.List(polars.Int32)})
    frame.write_parquet(os.path.join(HERE, "polars.parquet"), row_group_size=20, data_page_size=100)
    say("polars", "i:int64,s:string,l:list<int32>", [(r[0], r[1], r[3]) for r in rows])


def fix(name):
    """Decimals as texts with all digits of their scale."""
    path = os.path.join(HERE, name + ".json")
    with open(path) as f:
        said = json.load(f)
    scales = [int(c.split(",")[1]) for c in said["columns"].replace("decimal(", "").replace("),", ";").rstrip(")").split(";")]
    for row in said["rows"]:
        for i, v in enumerate(row):
            if v is not None:
                row[i] = f"{Decimal(v):.{scales[i]}f}"
    with open(path, "w") as f:
        json.dump(said, f, indent=0)
        f.write("\n")


if __name__ == "__main__":
    main()
