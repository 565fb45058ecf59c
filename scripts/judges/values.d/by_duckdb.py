"""DuckDB reads and writes tables of the corpus."""

import duckdb

import corpus

NAME = "DuckDB"
VERSION = duckdb.__version__
LACKS = set()  # types that it has not
# What our types are called. What is left out is called the same, or has no name here.
TYPES = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "uint8": "UTINYINT", "uint16": "USMALLINT",
         "uint32": "UINTEGER", "uint64": "UBIGINT", "float32": "FLOAT", "float64": "DOUBLE", "string": "VARCHAR", "binary": "BLOB",
         "list<int64>": "BIGINT[]", "list<string>": "VARCHAR[]", "struct<a:int64,b:string>": "STRUCT(a BIGINT, b VARCHAR)",
         "list<struct<a:int64,b:string>>": "STRUCT(a BIGINT, b VARCHAR)[]", "struct<a:list<int64>,b:string>": "STRUCT(a BIGINT[], b VARCHAR)"}
CSV = "header=true, auto_detect=false, delim=',', quote='\"', escape='\"', nullstr='', allow_quoted_nulls=false, max_line_size=400000000, buffer_size=900000000"
JSON = "format='newline_delimited', maximum_object_size=400000000"


def declared(type_):
    return TYPES.get(type_, type_.upper())


def session():
    """A connection whose time zone is none that would hide a shift."""
    c = duckdb.connect()
    c.execute("SET TimeZone = 'Asia/Seoul'")
    return c


def expression(column, compat):
    """What gives a column's value in a form that Python takes exactly. compat: a uuid is 16 bytes, and no more is said of it."""
    name, type_ = f'"{column.name}"', column.type
    if type_ == "date":
        return f"{name} - DATE '1970-01-01'"
    if type_ in ("time", "timestamp", "timestamptz"):
        return f"epoch_us({name})"
    if type_ == "json" or type_ == "uuid" and not compat:
        return f"CAST({name} AS VARCHAR)"
    return name


def truth(type_, v):
    if v is None:
        return None
    if type_.startswith("float"):
        return corpus.bits(type_, v)
    if type_.startswith("decimal"):
        return corpus.units(v, int(type_[:-1].split(",")[1]))
    if type_ == "uuid" and isinstance(v, bytes):
        return corpus.uuid_of(v)
    return corpus.of_text(type_, v) if type_ in ("uuid", "json") else v


def read(format, path, columns, as_text=frozenset(), compat=False):
    """The truths of the columns, by name. Columns of as_text are read as text, and their values made of that here."""
    types = {c.name: "VARCHAR" if c.name in as_text else declared(c.type) for c in columns}
    fields = "{" + ", ".join(f"'{name}': '{type_}'" for name, type_ in types.items()) + "}"
    source = {"parquet": f"read_parquet('{path}')", "csv": f"read_csv('{path}', columns={fields}, {CSV})",
              "ndjson": f"read_json('{path}', columns={fields}, {JSON})"}[format]
    wanted = ", ".join(f'"{c.name}"' if c.name in as_text else expression(c, compat) for c in columns)
    rows = session().execute(f"SELECT {wanted} FROM {source}").fetchall()
    got = dict(zip(types, zip(*rows))) if rows else {name: [] for name in types}
    return {c.name: [of_text(c.type, v) if c.name in as_text else truth(c.type, v) for v in got[c.name]] for c in columns}


def of_text(type_, v):
    return None if v is None else corpus.of_text(type_, v)


def written(column, as_text):
    """What gives a column of Arrow's as it is written."""
    name, type_ = f'"{column.name}"', column.type
    if as_text:
        return f"base64({name})" if type_ == "binary" else f"CAST(to_json({name}) AS VARCHAR)"
    return f"CAST({name} AS {type_.upper()})" if type_ in ("uuid", "json") else name


def write(format, path, table, columns, as_text=frozenset(), **options):
    """Writes a table of Arrow's, whose columns are the columns'."""
    c = duckdb.connect()
    c.execute("SET TimeZone = 'UTC'")  # in others it writes the first or the last instant with the year 10000 or one BC
    c.register("source", table)
    wanted = ", ".join(f'{written(k, k.name in as_text)} AS "{k.name}"' for k in columns)
    kind = {"parquet": "FORMAT parquet", "csv": "FORMAT csv, HEADER true", "ndjson": "FORMAT json"}[format]
    c.execute(f"COPY (SELECT {wanted} FROM source) TO '{path}' ({kind}{''.join(f', {k} {v}' for k, v in options.items())})")
