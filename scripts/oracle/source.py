"""Writes the truth as source files. The spelling of a row varies, as files in the world do: quotes that need not be there,
other line ends, a last line without one, keys in another order. The spelling is a function of (seed, file, row) as well."""

import json
import os

import truth

EXTENSIONS = {"csv": "csv", "ndjson": "ndjson", "lines": "txt", "parquet": "parquet"}
COMPRESSIONS = {"": "", "gzip": ".gz", "zstd": ".zst"}
MEMBERS = 5
PARQUET_BATCH = 100_000  # rows that are made at once


def path(directory, format, file, compression=""):
    return os.path.join(directory, f"part-{file:03d}.{EXTENSIONS[format]}{COMPRESSIONS[compression]}")


def quote(text):
    return '"' + text.replace('"', '""') + '"'


def text_of(value):
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, truth.Decimal):
        return f"{value:f}"
    return str(value)


def csv_record(values, bits):
    """A record without its line end. NULL is an unquoted empty field, an empty string is a quoted one."""
    fields = []
    for k, value in enumerate(values):
        if value is None:
            fields.append("")
            continue
        text = text_of(value)
        if not text or any(c in text for c in ',"\r\n') or (bits >> k) & 7 == 0:
            text = quote(text)
        fields.append(text)
    return ",".join(fields)


def ndjson_record(values, bits):
    pairs = []
    for k, (name, value) in enumerate(zip(truth.NAMES, values)):
        if value is None and (bits >> k) & 1:
            continue  # a key that is missing is NULL, as one that is null
        if value is None:
            text = "null"
        elif isinstance(value, (bool, int, float, truth.Decimal)):
            text = text_of(value)
        else:
            text = json.dumps(str(value), ensure_ascii=bool((bits >> 8) & 1))
        pairs.append((name, text))
    if (bits >> 9) & 3 == 0:
        pairs.append(("unknown", '{"a":[1,"},\\n{",null]}'))
    if (bits >> 11) & 3 == 0:
        pairs.reverse()
    colon, comma = (": ", ", ") if (bits >> 13) & 1 else (":", ",")
    return "{" + comma.join(f'"{name}"{colon}{text}' for name, text in pairs) + "}"


# Records that must be refused, by what is put in for the row's identity. \udcff is a byte that is not UTF-8.
BAD = {
    "csv": ["{},A1,,,,,,a letter in a number", "{},1,,,,,,a field,too many", "{},1", '{},1,,,,,,a quote " in it', "{},1,,2023-02-30,,,,", "{},1,,,,,,\udcff",
            '{},1,,,,,,"two\nlines, a field",too many', '{},1,,,,,,"text" after a quote', "{},9223372036854775808,,,,,,"],
    "ndjson": ['{{"id":"{}","n":"A"}}', '{{"id":"{}","n":1', '["{}"]', '{{"id":"{}"}} {{"n":1}}', '{{"id":"{}","day":"2023-02-30"}}', '{{"id":"{}","note":"\udcff"}}',
               '{{"id":"{}","n":1.5}}', "{}", '{{"id":"{}","n":9223372036854775808}}'],
}


def record(format, seed, file, row, bad=False):
    """The row's record as it stands in the source, without its line end. bad: the source has records that must be refused."""
    if format == "lines":
        return truth.line(seed, file, row)
    bits = truth.words(seed, file, row)[5]
    if bad and truth.is_bad(seed, file, row):
        return BAD[format][bits % len(BAD[format])].format(truth.identity(seed, file, row))
    make = csv_record if format == "csv" else ndjson_record
    return make(truth.values(seed, file, row), bits)


def records(format, seed, file, count, bad=False):
    """Yields the records of a file with their line ends; the last one may have none."""
    end = "\r\n" if format == "csv" and file % 2 else "\n"
    for row in range(count):
        yield record(format, seed, file, row, bad) + ("" if row == count - 1 and file % 3 == 1 else end)


def bad_lines(format, seed, file, count):
    """The lines on which the bad records of a file begin, by row."""
    lines, line = {}, 2 if format == "csv" else 1
    for row, text in enumerate(records(format, seed, file, count, True)):
        if truth.is_bad(seed, file, row):
            lines[row] = line
        line += text.count("\n")
    return lines


def make(directory, format, seed, rows, files, compression="", bad=False):
    """Writes the source files and gives their paths."""
    os.makedirs(directory, exist_ok=True)
    paths = []
    for file, count in enumerate(truth.layout(rows, files)):
        at = path(directory, format, file, compression)
        if format == "parquet":
            make_parquet(at, seed, file, count)
        elif compression:
            write_compressed(at, format, seed, file, count, compression)
        else:
            with open(at, "w", encoding="utf-8", errors="surrogateescape", newline="") as out:
                out.write(head(format, file))
                out.writelines(records(format, seed, file, count, bad))
        paths.append(at)
    return paths


def head(format, file):
    return ",".join(truth.NAMES) + ("\r\n" if file % 2 else "\n") if format == "csv" else ""


def write_compressed(at, format, seed, file, count, compression):
    """Several members or frames, of about so many records each, which end anywhere within a record."""
    import pyarrow as pa

    data = (head(format, file) + "".join(records(format, seed, file, count))).encode()
    piece = max(1, len(data) // MEMBERS + 7)
    with open(at, "wb") as out:
        for k in range(0, max(len(data), 1), piece):
            sink = pa.BufferOutputStream()
            with pa.CompressedOutputStream(sink, compression) as member:
                member.write(data[k : k + piece])
            out.write(sink.getvalue())


def make_parquet(at, seed, file, count):
    """Row groups of a size that no checkpoint is a multiple of, and pages of few rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(at, truth.arrow_schema(), compression=("zstd", "snappy", "none")[file % 3], data_page_version=("1.0", "2.0")[file % 2],
                          data_page_size=4096, write_page_index=True) as writer:
        for k in range(0, count, PARQUET_BATCH):
            rows = [truth.values(seed, file, row) for row in range(k, min(count, k + PARQUET_BATCH))]
            columns = [pa.array(list(column), type_) for column, type_ in zip(zip(*rows), truth.arrow_schema().types)]
            writer.write_table(pa.Table.from_arrays(columns, schema=truth.arrow_schema()), row_group_size=97 if count <= PARQUET_BATCH else 10_007)
