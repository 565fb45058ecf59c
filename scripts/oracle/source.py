"""Writes the truth as source files. The spelling of a row varies, as files in the world do: quotes that need not be there,
other line ends, a last line without one, keys in another order. The spelling is a function of (seed, file, row) as well."""

import json
import os

import truth

EXTENSIONS = {"csv": "csv", "ndjson": "ndjson", "lines": "txt"}


def path(directory, format, file):
    return os.path.join(directory, f"part-{file:03d}.{EXTENSIONS[format]}")


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


def record(format, seed, file, row):
    """The row's record as it stands in the source, without its line end."""
    if format == "lines":
        return truth.line(seed, file, row)
    bits = truth.words(seed, file, row)[5]
    make = csv_record if format == "csv" else ndjson_record
    return make(truth.values(seed, file, row), bits)


def make(directory, format, seed, rows, files):
    """Writes the source files and gives their paths."""
    os.makedirs(directory, exist_ok=True)
    paths = []
    for file, count in enumerate(truth.layout(rows, files)):
        end = "\r\n" if format == "csv" and file % 2 else "\n"
        at = path(directory, format, file)
        with open(at, "w", encoding="utf-8", newline="") as out:
            if format == "csv":
                out.write(",".join(truth.NAMES) + end)
            for row in range(count):
                last = row == count - 1 and file % 3 == 1
                out.write(record(format, seed, file, row) + ("" if last else end))
        paths.append(at)
    return paths
