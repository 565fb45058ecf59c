"""Polars reads and writes tables of the corpus."""

import polars as pl

import corpus

NAME = "Polars"
VERSION = pl.__version__
LACKS = {"uuid", "json"}  # types that it has not
AB = {"a": pl.Int64, "b": pl.String}
TYPES = {"bool": pl.Boolean, "int8": pl.Int8, "int16": pl.Int16, "int32": pl.Int32, "int64": pl.Int64, "uint8": pl.UInt8, "uint16": pl.UInt16,
         "uint32": pl.UInt32, "uint64": pl.UInt64, "float32": pl.Float32, "float64": pl.Float64, "date": pl.Date, "time": pl.Time,
         "timestamp": pl.Datetime("us"), "timestamptz": pl.Datetime("us", "UTC"), "string": pl.String, "binary": pl.Binary,
         "list<int64>": pl.List(pl.Int64), "list<string>": pl.List(pl.String), "struct<a:int64,b:string>": pl.Struct(AB),
         "list<struct<a:int64,b:string>>": pl.List(pl.Struct(AB)),
         "struct<a:list<int64>,b:string>": pl.Struct({"a": pl.List(pl.Int64), "b": pl.String})}


def declared(type_):
    if type_.startswith("decimal"):
        return pl.Decimal(*map(int, type_[8:-1].split(",")))
    return TYPES.get(type_, pl.String)


def truths(type_, series):
    """A column's truths. What Polars has no type for it gives as text, or as bytes."""
    if type_ in ("date", "time", "timestamp", "timestamptz"):
        if series.dtype != declared(type_):
            raise ValueError(f"{series.name} is read as {series.dtype}")
        nanos = type_ == "time"
        return [None if v is None else whole(v) if nanos else v for v in series.to_physical().to_list()]
    return [None if v is None else truth(type_, v) for v in series.to_list()]


def whole(nanos):
    if nanos % 1000:
        raise ValueError(f"{nanos} ns are no microseconds")
    return nanos // 1000


def truth(type_, v):
    if type_.startswith("float"):
        return corpus.bits(type_, v)
    if type_.startswith("decimal"):
        return corpus.units(v, int(type_[:-1].split(",")[1]))
    if isinstance(v, bytes) and type_ in ("uuid", "json"):
        return corpus.uuid_of(v) if type_ == "uuid" else corpus.of_text(type_, v.decode())
    return v


def read(format, path, columns, as_text=frozenset(), compat=False):
    schema = {c.name: pl.String if c.name in as_text else declared(c.type) for c in columns}
    names = list(schema)
    if format == "parquet":
        frame = pl.read_parquet(path, columns=names)
    elif format == "csv":
        frame = pl.read_csv(path, schema_overrides=schema, columns=names, infer_schema=False)
    else:
        frame = pl.read_ndjson(path, schema=schema)
    return {c.name: [of_text(c.type, v) for v in frame[c.name]] if c.name in as_text else truths(c.type, frame[c.name]) for c in columns}


def of_text(type_, v):
    return None if v is None else corpus.of_text(type_, v)


def write(format, path, table, columns, as_text=frozenset(), **options):
    frame = pl.from_arrow(table)
    if format == "parquet":
        frame.write_parquet(path, **options)
    elif format == "csv":
        frame.write_csv(path, **options)
    else:
        frame.write_ndjson(path, **options)
