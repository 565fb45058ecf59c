"""The value corpus of testdata/values, and tables made of it.

A value has its text, as our NDJSON has it, and its truth, that is what it must be wherever it is read: an int of what a type
counts (microseconds, days, units of a decimal's last digit), the bits of a float, text, bytes, or lists and dicts of these. Truths
are worked out here, by Python's own decimal, fractions, datetime and struct.
"""

import base64
import decimal
import glob
import json
import os
import re
import struct
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "..", "..", "testdata", "values")
NULLS = ("none", "some", "all")
BIG = 70_000
MIXED, RUN = 130, 11  # rows
EXACT = decimal.Context(prec=200, traps=[decimal.Inexact, decimal.InvalidOperation])

# The types' files, and what the types are called in jobs.
TYPES = {
    "bool": "bool", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8", "uint16": "uint16",
    "uint32": "uint32", "uint64": "uint64", "float32": "float32", "float64": "float64", "decimal-5-2": "decimal(5,2)",
    "decimal-18-0": "decimal(18,0)", "decimal-18-18": "decimal(18,18)", "decimal-38-0": "decimal(38,0)",
    "decimal-38-38": "decimal(38,38)", "date": "date", "time": "time", "timestamp": "timestamp", "timestamptz": "timestamptz",
    "string": "string", "binary": "binary", "uuid": "uuid", "json": "json", "list-int64": "list<int64>",
    "list-string": "list<string>", "struct": "struct<a:int64,b:string>", "list-struct": "list<struct<a:int64,b:string>>",
    "struct-list": "struct<a:list<int64>,b:string>",
}


class Number(str):
    """The digits of a JSON number, so that none is lost to a float."""


DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, object_pairs_hook=lambda pairs: Pairs(pairs))


class Pairs(list):
    """The members of an object, in order."""


def load(text):
    """JSON, with the digits of its numbers as they are written."""
    return DECODER.decode(text)


@dataclass
class Value:
    text: str  # in NDJSON
    truth: object


@dataclass
class Kind:
    """A row of the judges' table: a type, or a group of a type's values that some reader treats otherwise."""

    name: str
    type: str
    values: list = field(default_factory=list)

    @property
    def column(self):
        return re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_")


@dataclass
class Column:
    name: str
    kind: Kind
    rows: list  # of Value, None for NULL

    @property
    def type(self):
        return self.kind.type

    def truths(self):
        return [None if v is None else v.truth for v in self.rows]


def of_json(type_, value):
    """The truth of a value that load has read. What is no value of the type is a ValueError."""
    if value is None:
        return None
    if type_ == "json":
        return json_text(value)
    if type_.startswith("list<"):
        if type(value) is not list:
            raise ValueError(f"{value!r} is no list")
        return [of_json(type_[5:-1], v) for v in value]
    if type_.startswith("struct<"):
        fields = fields_of(type_)
        if not isinstance(value, Pairs) or [k for k, _ in value] != [name for name, _ in fields]:
            raise ValueError(f"{value!r} has not the fields of {type_}")
        return {name: of_json(t, v) for (name, t), (_, v) in zip(fields, value)}
    if type_ == "bool":
        if type(value) is not bool:
            raise ValueError(f"{value!r} is no bool")
        return value
    if isinstance(value, Number) and not is_number(type_) or not isinstance(value, str):
        raise ValueError(f"{value!r} is no {type_}")
    return of_text(type_, value)


def is_number(type_):
    return type_.startswith(("int", "uint", "float", "decimal"))


def fields_of(type_):
    """The fields of a struct. Those of the corpus are flat enough for this."""
    return [tuple(part.split(":", 1)) for part in re.findall(r"\w+:(?:list<\w+>|\w+)", type_[7:-1])]


def of_text(type_, text):
    """The truth of a value that stands as a text, as in a field of CSV."""
    if type_ == "bool":
        return {"true": True, "false": False}[text]
    if type_.startswith(("int", "uint")):
        if not re.fullmatch(r"-?\d+", text):
            raise ValueError(f"{text!r} is no {type_}")
        return int(text)
    if type_.startswith("float"):
        return float_bits(type_, text)
    if type_.startswith("decimal"):
        return units(decimal.Decimal(text), int(type_[:-1].split(",")[1]))
    if type_ == "date":
        return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()
    if type_ == "time":
        return micros(datetime.fromisoformat(f"1970-01-01 {six(text)}"))
    if type_ == "timestamp":
        return micros(datetime.fromisoformat(six(text)))
    if type_ == "timestamptz":
        return instant(text)
    if type_ == "binary":
        return base64.b64decode(text, validate=True)
    if type_ == "uuid":
        if not re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text.lower()):
            raise ValueError(f"{text!r} is no uuid")
        return text.lower()
    if type_ == "string":
        return str(text)
    return of_json(type_, load(text))


def six(text):
    """The text with six digits of a fraction, if it has one. Zeros beyond them are cut."""
    found = re.fullmatch(r"(.*\d\d:\d\d:\d\d)\.(\d+)", text)
    if not found:
        return text
    digits = found.group(2).ljust(6, "0")
    if digits[6:].strip("0"):
        raise ValueError(f"{text!r} has more than microseconds")
    return f"{found.group(1)}.{digits[:6]}"


def micros(when):
    since = when - datetime(1970, 1, 1)
    return (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds


def instant(text):
    found = re.fullmatch(r"(.*:\d\d(?:\.\d+)?) ?(Z|UTC|([+-])(\d\d):?(\d\d)?(?::(\d\d))?)", text)
    if not found:
        raise ValueError(f"{text!r} has no time zone")
    local, _, sign, hours, minutes, seconds = found.groups()
    offset = 0 if sign is None else int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return micros(datetime.fromisoformat(six(local))) - (-offset if sign == "-" else offset) * 1_000_000


def units(value, scale):
    """A decimal as an integer of its last digit. One that has more digits is a ValueError."""
    try:
        return int(value.scaleb(scale, EXACT).to_integral_exact(context=EXACT))
    except decimal.DecimalException as error:
        raise ValueError(f"{value} has not {scale} digits after its point: {error!r}") from None


def float_bits(type_, text):
    """The bits of the float of that type that is nearest to a text's number, in hexadecimal digits."""
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return bits(type_, float(text))
    if not re.fullmatch(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", text):
        raise ValueError(f"{text!r} is no number")
    v = float(text)  # rounded once, to a float64
    return bits(type_, v if type_ == "float64" else nearest32(v, Fraction(text)))


def nearest32(v, exact):
    """The float32 nearest to a number, the even one of two. v is the float64 nearest to it."""
    near = struct.unpack("<i", struct.pack("<f", v))[0]
    found = []
    for b in {near - 1, near, near + 1} if v else {near}:
        candidate = struct.unpack("<f", struct.pack("<I", b & 0xFFFFFFFF))[0]
        if candidate - candidate == 0:
            found.append((abs(Fraction(candidate) - exact), b & 1, candidate))
    return min(found)[2]


def bits(type_, v):
    if v != v:
        return "NaN"
    if type_ == "float64":
        return struct.pack(">d", v).hex()
    packed = struct.pack(">f", v)
    if struct.unpack(">f", packed)[0] != v:
        raise ValueError(f"{v!r} is no float32")
    return packed.hex()


def uuid_of(data):
    text = data.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def float_of(type_, bits_):
    """The Python float that has these bits."""
    return float("nan") if bits_ == "NaN" else struct.unpack(">d" if type_ == "float64" else ">f", bytes.fromhex(bits_))[0]


def json_text(value):
    """A JSON value, its numbers' digits, its keys' order and all, in one spelling."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, Pairs):
        return "{" + ",".join(f"{json.dumps(k)}:{json_text(v)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(json_text, value)) + "]"
    return json.dumps(value)


def read_kinds():
    """The corpus's kinds, in the order of TYPES, and those of a big value among small ones."""
    if unknown := {os.path.basename(p)[:-7] for p in glob.glob(os.path.join(FOLDER, "*.ndjson"))} - set(TYPES) - {"refused"}:
        raise SystemExit(f"no type for testdata/values/{unknown}.ndjson")
    kinds = []
    for name, type_ in TYPES.items():
        of_type = {}
        with open(os.path.join(FOLDER, name + ".ndjson"), encoding="utf-8", newline="\n") as f:
            for line in f:
                text = line[5 : DECODER.raw_decode(line, 5)[1]]  # after {"v":
                group = json.loads(line).get("group", "")
                shown = type_ if not group else f"{type_}, {group}"
                kind = of_type.setdefault(group, Kind(shown, type_))
                kind.values.append(Value(text, of_json(type_, load(text))))
        kinds += of_type.values()
    return kinds + big_kinds()


def big_kinds():
    return [Kind(f"{type_}, 70 KB", type_, [Value(big, of_json(type_, load(big)))] + [Value(small, of_json(type_, load(small)))] * 31)
            for type_, big, small in big_texts(BIG, "🐎")]


def big_texts(size, wide=""):
    """Values of about so many bytes, and small ones, as NDJSON has them."""
    text = (f'0123456789abcdef,"{wide}\n' * (size // 16))[:size]
    data = (bytes(range(256)) * (size // 256 + 1))[:size]
    yield "string", json.dumps(text), '""'
    yield "binary", json.dumps(base64.b64encode(data).decode()), '""'
    yield "json", json.dumps({"a": text}), "{}"
    yield "list<string>", json.dumps([text[: size // 2], None, text[: size // 2]]), "[]"


def table(kinds, rows, nulls=NULLS):
    """Columns of so many rows: of each kind, none of its values NULL, some, and all. Of some every second one is, and beyond
    MIXED rows runs of them."""
    columns = [Column("id", Kind("id", "int64"), [Value(str(i), i) for i in range(rows)])]
    for kind in kinds:
        for how in nulls:
            pick = [None] * rows
            if how != "all":
                pick = [kind.values[i % len(kind.values)] for i in range(rows)]
            if how == "some":
                pick = [kind.values[i // 2 % len(kind.values)] if (i if i < MIXED else i // RUN) % 2 == 0 else None for i in range(rows)]
            columns.append(Column(f"{kind.column}_{how}", kind, pick))
    return columns
