"""Makes the files that the reader is tested with, by pyarrow, DuckDB and Polars, and beside each what is in it: the columns as the
reader is to give them, and the rows as texts. The texts are made from the Python values that the files are made from, or from what
pyarrow reads. The files in parquet-testing are of github.com/apache/parquet-testing (Apache License 2.0): of Impala, Hive, Spark and
others; beside them is put what pyarrow reads.

  python3 format/parquet/testdata/make.py        (pyarrow 26, duckdb 2, polars 2)
"""

import base64
import datetime as dt
import glob
import json
import math
import os
import struct
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


def plain(x):
    if isinstance(x, list):
        return [plain(v) for v in x]
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return x


def say(name, columns, rows, folder=HERE):
    with open(os.path.join(folder, name + ".json"), "w") as f:
        json.dump({"columns": columns, "rows": [[text(v) for v in row] for row in rows]}, f, ensure_ascii=False, indent=0)
        f.write("\n")


def write(name, columns, table, **options):
    pq.write_table(table, os.path.join(HERE, name + ".parquet"), **options)
    say(name, columns, list(zip(*[c.to_pylist() for c in table.columns])))


# What pyarrow reads, by its types.

KINDS = {pa.bool_(): "bool", pa.null(): "int32", pa.int8(): "int8", pa.int16(): "int16", pa.int32(): "int32", pa.int64(): "int64", pa.uint8(): "uint8", pa.uint16(): "uint16",
         pa.uint32(): "uint32", pa.uint64(): "uint64", pa.float16(): "float32", pa.float32(): "float32", pa.float64(): "float64", pa.date32(): "date",
         pa.string(): "string", pa.large_string(): "string", pa.string_view(): "string", pa.binary(): "binary", pa.large_binary(): "binary", pa.binary_view(): "binary"}


def kind(t):
    """The reader's type of one of pyarrow's."""
    if t in KINDS:
        return KINDS[t]
    if isinstance(t, pa.JsonType):
        return "json"
    if isinstance(t, pa.UuidType):
        return "uuid"
    if pa.types.is_dictionary(t):
        return kind(t.value_type)
    if pa.types.is_decimal(t):
        return f"decimal({t.precision},{t.scale})"
    if pa.types.is_timestamp(t):
        return "timestamptz" if t.tz else "timestamp"
    if pa.types.is_time(t):
        return "time"
    if pa.types.is_fixed_size_binary(t):
        return "binary"
    if pa.types.is_map(t):
        return f"list<struct<key:{required(t.key_field)},value:{required(t.item_field)}>!>"
    if pa.types.is_struct(t):
        return "struct<" + columns_of(t.fields) + ">"
    return "list<" + required(t.value_field) + ">"


def required(f):
    return kind(f.type) + ("" if f.nullable else "!")


def columns_of(fields):
    return ",".join(f"{f.name}:{required(f)}" for f in fields)


def shown(x, t):
    """The text of a value that is not nested."""
    if pa.types.is_dictionary(t):
        return shown(x, t.value_type)
    if pa.types.is_float32(t) or pa.types.is_float16(t):
        if math.isfinite(x):  # the shortest text that is the same float32
            x = next(y for y in (float(f"{x:.{n}g}") for n in range(1, 18)) if struct.pack("f", y) == struct.pack("f", x))
    if isinstance(x, float) and x == 0:
        return "-0.0" if math.copysign(1, x) < 0 else "0"
    if isinstance(x, float) and x == int(x) and abs(x) < 1e15:
        return str(int(x))
    if pa.types.is_decimal(t):
        return f"{x:f}"
    return text(x)


def plainly(x, t):
    """The JSON text of a value in another one."""
    if x is None:
        return "null"
    if pa.types.is_map(t):
        return "[" + ",".join('{"key":' + plainly(k, t.key_type) + ',"value":' + plainly(v, t.item_type) + "}" for k, v in x) + "]"
    if pa.types.is_struct(t):
        return "{" + ",".join(f'"{f.name}":{plainly(x[f.name], f.type)}' for f in t.fields) + "}"
    if isinstance(x, list):
        return "[" + ",".join(plainly(v, t.value_type) for v in x) + "]"
    if pa.types.is_boolean(t) or pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t):
        return shown(x, t)
    return json.dumps(shown(x, t), ensure_ascii=False)


def judge(path):
    """Says of a file what pyarrow reads."""
    file = pq.ParquetFile(path, arrow_extensions_enabled=True)
    rows = [[] for _ in range(file.metadata.num_rows or sum(file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)))]
    for field in file.schema_arrow:
        try:
            column = file.read(columns=[field.name]).column(0)
        except (OSError, pa.ArrowInvalid):  # it reads neither DuckDB's deltas of unsigned integers of 32 bits, nor its arrays that are NULL
            column = duckdb.sql(f"SELECT {field.name} FROM '{path}'").to_arrow_table().column(0)
        t = column.type
        if pa.types.is_timestamp(t) and t.unit == "ns":  # of which Python has none
            column, t = column.cast(pa.timestamp("us", t.tz)), pa.timestamp("us", t.tz)
        if pa.types.is_time64(t) and t.unit == "ns":
            column, t = column.cast(pa.time64("us")), pa.time64("us")
        for row, x in zip(rows, column.to_pylist()):
            nested = pa.types.is_nested(t)
            row.append(None if x is None else plainly(x, t) if nested else shown(x, t))
    say(os.path.basename(path).removesuffix(".parquet"), columns_of(file.schema_arrow), rows, os.path.dirname(path))


def of_duckdb(db):
    """All types of DuckDB that there is one of the reader's for."""
    db.execute("""CREATE TABLE kinds AS SELECT i::TINYINT a, i::SMALLINT b, (i * 1000003)::INTEGER c, (i * 1000000000039)::BIGINT d, abs(i)::UTINYINT e, abs(i)::USMALLINT f,
        (4294967295 - abs(i))::UINTEGER g, (18446744073709551615 - abs(i))::UBIGINT h, (i / 4)::FLOAT j, (i / 3)::DOUBLE k, (i / 2)::DECIMAL(4,1) l, (i / 4)::DECIMAL(9,2) m,
        (i / 8)::DECIMAL(18,3) n, (i::DECIMAL(38,5) * 1000000000000000000000000) o, 'v' || (i % 3) p, ('\\x00\\xFF' || i)::BLOB q, i % 2 = 0 r, DATE '2026-03-29' + i::INTEGER s,
        TIME '00:00:00' + to_microseconds(abs(i) * 1000003) t, TIMESTAMP '2026-03-29 02:30:00' + to_microseconds(i * 1000000007) u, ('2026-03-29 02:30:00.123'::TIMESTAMP_MS) v,
        ('2026-03-29 02:30:01'::TIMESTAMP_S) w, ('2026-03-29 02:30:01.123456'::TIMESTAMP_NS) x, (TIMESTAMPTZ '2026-03-29 02:30:00+02:00' + to_seconds(i)) y,
        ('00000000-0000-4000-8000-0000000000' || lpad((i % 50 + 50)::VARCHAR, 2, '0'))::UUID z, (CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END)::ENUM('even', 'odd') aa,
        ('{"i":' || i || '}')::JSON ab, {'x': i, 'y': [i, NULL], 'z': {'w': 'é' || i}} ac, [[i], [], NULL] ad, MAP {'k' || i: i, 'l': NULL} ae, array_value(i, i + 1) af, FALSE ag
        FROM range(-30, 30) AS _(i)""")
    nulls = ", ".join(f"CASE WHEN (rowid * 7 + {i}) % 5 = 0 THEN NULL ELSE {c} END {c}" for i, (c, *_) in enumerate(db.execute("DESCRIBE kinds").fetchall()))
    for name, what, options in (("V1", "*", ""), ("V2", "*", ""), ("V1-nulls", nulls, ", COMPRESSION zstd"), ("V2-nulls", nulls, ", COMPRESSION brotli"), ("plain", nulls, ", DICTIONARY_SIZE_LIMIT 1, COMPRESSION lz4_raw")):
        path = os.path.join(HERE, f"duckdb-kinds-{name}.parquet")
        db.execute(f"COPY (SELECT {what} FROM kinds) TO '{path}' (FORMAT parquet, PARQUET_VERSION {name[:2] if name[0] == 'V' else 'V2'}{options})")
        judge(path)


def of_polars():
    """All types of Polars that there is one of the reader's for."""
    p, n = polars, range(-20, 20)
    null = lambda values, k: [None if i % k == 1 else v for i, v in enumerate(values)]
    moment = dt.datetime(2026, 3, 29, 2, 30)
    frame = p.DataFrame({
        "a": p.Series(null(n, 5), dtype=p.Int8), "b": p.Series(null(n, 3), dtype=p.Int16), "c": p.Series(n, dtype=p.Int32), "d": p.Series(null([i * 10**15 for i in n], 7), dtype=p.Int64),
        "e": p.Series([abs(i) for i in n], dtype=p.UInt8), "f": p.Series([abs(i) for i in n], dtype=p.UInt16), "g": p.Series([2**32 - 1 - abs(i) for i in n], dtype=p.UInt32),
        "h": p.Series([2**64 - 1 - abs(i) for i in n], dtype=p.UInt64), "j": p.Series(null([i / 4 for i in n], 4), dtype=p.Float32), "k": p.Series([i / 8 for i in n], dtype=p.Float64),
        "l": p.Series(null([Decimal(i) / 4 for i in n], 4), dtype=p.Decimal(10, 2)), "m": p.Series([Decimal(i) * 10**20 for i in n], dtype=p.Decimal(38, 1)),
        "o": p.Series(null([f"v{i % 4}" for i in n], 6)), "q": p.Series([bytes([i % 256, 0, 255]) for i in n]), "r": p.Series(null([i % 3 == 0 for i in n], 9)),
        "s": p.Series([dt.date(2026, 3, 29) + dt.timedelta(i) for i in n]), "t": p.Series(null([dt.time(abs(i), 30, 0, 7) for i in n], 5)),
        "u": p.Series([moment + dt.timedelta(hours=i, microseconds=i) for i in n], dtype=p.Datetime("us")), "v": p.Series(null([moment + dt.timedelta(i) for i in n], 3), dtype=p.Datetime("ms")),
        "w": p.Series([moment + dt.timedelta(i) for i in n], dtype=p.Datetime("ns")), "x": p.Series([moment + dt.timedelta(i) for i in n], dtype=p.Datetime("us", "UTC")),
        "y": p.Series(null([f"c{i % 4}" for i in n], 6), dtype=p.Categorical), "z": p.Series(["even", "odd"] * 20, dtype=p.Enum(["even", "odd"])),
        "aa": p.Series([{"x": i, "y": [i, None] if i % 2 else None} if i % 3 else None for i in n]), "ab": p.Series([[[i], [], None] if i % 4 else None for i in n]),
        "ac": p.Series([[i, i + 1] for i in n], dtype=p.Array(p.Int32, 2))})
    for name, options in (("zstd", {"row_group_size": 17}), ("snappy", {"data_page_size": 30}), ("lz4", {"statistics": False})):
        path = os.path.join(HERE, f"polars-kinds-{name}.parquet")
        frame.write_parquet(path, compression=name, **options)
        judge(path)


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
    of_duckdb(db)
    of_polars()
    for path in sorted(glob.glob(os.path.join(os.path.dirname(HERE), "parquet-testing", "*.parquet"))):
        judge(path)


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
