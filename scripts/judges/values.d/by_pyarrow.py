"""pyarrow reads and writes tables of the corpus. It has no writer of JSON."""

import decimal

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

import corpus

NAME = "pyarrow"
VERSION = pa.__version__
LACKS = set()  # types that it has not
AB = pa.struct([("a", pa.int64()), ("b", pa.string())])
TYPES = {"bool": pa.bool_(), "float32": pa.float32(), "float64": pa.float64(), "date": pa.date32(), "time": pa.time64("us"),
         "timestamp": pa.timestamp("us"), "timestamptz": pa.timestamp("us", "UTC"), "string": pa.string(), "binary": pa.binary(),
         "uuid": pa.uuid(), "json": pa.json_(), "list<int64>": pa.list_(pa.int64()), "list<string>": pa.list_(pa.string()),
         "struct<a:int64,b:string>": AB, "list<struct<a:int64,b:string>>": pa.list_(AB),
         "struct<a:list<int64>,b:string>": pa.struct([("a", pa.list_(pa.int64())), ("b", pa.string())])}
STORED = {"date": pa.int32(), "time": pa.int64(), "timestamp": pa.int64(), "timestamptz": pa.int64()}
BLOCK = 1 << 29


def declared(type_):
    if type_.startswith("decimal"):
        return pa.decimal128(*map(int, type_[8:-1].split(",")))
    return TYPES.get(type_) or getattr(pa, type_)()


def array(column):
    """A column as an array of Arrow's."""
    type_, values = column.type, column.truths()
    if type_.startswith("float"):
        values = [None if v is None else corpus.float_of(type_, v) for v in values]
    elif type_.startswith("decimal"):
        scale = int(type_[:-1].split(",")[1])
        values = [None if v is None else decimal.Decimal(v).scaleb(-scale, corpus.EXACT) for v in values]
    elif type_ in STORED:
        return pa.array(values, STORED[type_]).cast(declared(type_))
    elif type_ == "uuid":
        return pa.ExtensionArray.from_storage(pa.uuid(), pa.array([None if v is None else bytes.fromhex(v.replace("-", "")) for v in values], pa.binary(16)))
    elif type_ == "json":
        return pa.ExtensionArray.from_storage(pa.json_(), pa.array(values, pa.string()))
    return pa.array(values, declared(type_))


def table(columns):
    return pa.table({c.name: array(c) for c in columns})


def truths(type_, values):
    """The truths of an array, chunked or not, of any type that stands for ours."""
    if isinstance(values.type, pa.BaseExtensionType):
        values = pa.chunked_array([chunk.storage for chunk in values.chunks], values.type.storage_type)
    elif type_ in STORED:
        if values.type != declared(type_):
            raise ValueError(f"{type_} is read as {values.type}")
        values = values.cast(STORED[type_])
    return [None if v is None else truth(type_, v) for v in values.to_pylist()]


def truth(type_, v):
    if type_.startswith("float"):
        return corpus.bits(type_, v)
    if type_.startswith("decimal"):
        return corpus.units(v, int(type_[:-1].split(",")[1]))
    if type_ == "uuid" and isinstance(v, bytes):
        return corpus.uuid_of(v)
    if type_ in ("uuid", "json"):
        return corpus.of_text(type_, v)
    return v


def read(format, path, columns, as_text=frozenset(), compat=False):
    types = {c.name: pa.string() if c.name in as_text else declared(c.type) for c in columns}
    if format == "parquet":
        got = pa.parquet.read_table(path, columns=list(types), partitioning=None)
        check_types(got, columns, compat)
    elif format == "csv":
        convert = pa.csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=True,
                                        quoted_strings_can_be_null=False)
        got = pa.csv.read_csv(path, pa.csv.ReadOptions(block_size=BLOCK), pa.csv.ParseOptions(newlines_in_values=True), convert)
    else:
        parse = pa.json.ParseOptions(pa.schema(types), newlines_in_values=False, unexpected_field_behavior="ignore")
        got = pa.json.read_json(path, pa.json.ReadOptions(block_size=BLOCK), parse)
    return {c.name: [of_text(c.type, v) for v in got[c.name].to_pylist()] if c.name in as_text else truths(c.type, got[c.name]) for c in columns}


def check_types(got, columns, compat):
    """What we write as Parquet must have the very types. compat: a uuid is 16 bytes, and no more is said of it."""
    for c in columns:
        is_ = got.schema.field(c.name).type
        want = pa.binary(16) if compat and c.type == "uuid" else declared(c.type)
        if is_ != want:
            raise ValueError(f"{c.name} is of type {is_}, and not {want}")


def of_text(type_, v):
    return None if v is None else corpus.of_text(type_, v)


def write(format, path, table, columns, as_text=frozenset(), **options):
    if format == "parquet":
        pa.parquet.write_table(table, path, **options)
    elif format == "csv":
        pa.csv.write_csv(table, path, **options)
    else:
        raise NotImplementedError("pyarrow has no writer of JSON")
