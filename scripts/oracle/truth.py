"""The truth: every row is a pure function of (seed, file, row), so nothing has to be stored to judge an export."""

import struct
from datetime import date, datetime, timedelta
from decimal import Decimal
from hashlib import blake2b

# Column names and types, as a job declares them.
COLUMNS = [
    ("id", "string"),
    ("n", "int64"),
    ("amount", "decimal(18,2)"),
    ("day", "date"),
    ("at", "timestamp"),
    ("ratio", "float64"),
    ("ok", "bool"),
    ("note", "string"),
]
NAMES = [name for name, _ in COLUMNS]

INTS = [2**63 - 1, -(2**63), 0, -1, 2**53 + 1, 9007199254740993, 1, -(2**53) - 1]
CENTS = [10**18 - 1, -(10**18 - 1), 0, 1, -1, 100, 10, -99]
FLOATS = [0.1, 1e300, 5e-324, 1.7976931348623157e308, -0.0, 1.0, 123456789.0, 2.5e-7]
DAYS = 3652059  # 0001-01-01 to 9999-12-31
EPOCH = datetime(1, 1, 1)
MICROS = DAYS * 86_400_000_000
CENT = Decimal("0.01")
UNPACK = struct.Struct("<6Q").unpack
FLOAT = struct.Struct("<d")
WORD = struct.Struct("<Q")

NOTES = [
    lambda x: f"plain {x:x}",
    lambda x: f"comma, {x:x}",
    lambda x: f'quote " and "" {x:x}',
    lambda x: f"two\nlines {x:x}",
    lambda x: f"dos\r\nlines {x:x}",
    lambda x: f"Žluťoučký kůň 馬 🐎 {x:x}",
    lambda x: f"  blanks around {x:x}  ",
    lambda x: f"tab\there \\N \\ / {x:x}",
    lambda x: "",
    lambda x: None,
    lambda x: "NULL",
    lambda x: '"',
    lambda x: f"control \x01\x1f\x7f {x:x}",
    lambda x: "\n",
    lambda x: f"line separator \u2028 {x:x}",
    lambda x: "long " + "0123456789" * (x % 40),
]


def identity(seed, file, row):
    return f"s{seed}.f{file}.r{row}"


def parse_identity(text):
    """(seed, file, row) of an id, or None if it is no id that identity makes."""
    parts = text.split(".") if isinstance(text, str) else ()
    if len(parts) != 3 or [p[:1] for p in parts] != ["s", "f", "r"]:
        return None
    try:
        seed, file, row = (int(p[1:]) for p in parts)
    except ValueError:
        return None
    return (seed, file, row) if identity(seed, file, row) == text else None


def arrow_schema():
    import pyarrow as pa

    types = [pa.string(), pa.int64(), pa.decimal128(18, 2), pa.date32(), pa.timestamp("us"), pa.float64(), pa.bool_(), pa.string()]
    return pa.schema(zip(NAMES, types))


def words(seed, file, row):
    return UNPACK(blake2b(b"%d/%d/%d" % (seed, file, row), digest_size=48).digest())


def values(seed, file, row):
    """The row's values, in the order of COLUMNS; NULL is None."""
    a, b, c, d, e, g = words(seed, file, row)
    n = amount = day = at = ratio = ok = None
    if a & 15:
        n = INTS[(a >> 8) & 7] if not (a >> 4) & 15 else b - 2**63
    if (a >> 11) & 15:
        cents = CENTS[(a >> 19) & 7] if not (a >> 15) & 15 else c % (2 * 10**14) - 10**14
        amount = cents * CENT
    if (a >> 22) & 15:
        day = date.fromordinal(1 + d % DAYS)
    if (a >> 26) & 15:
        micros = e % MICROS
        if (a >> 30) & 1:
            micros -= micros % 1_000_000
        at = EPOCH + timedelta(microseconds=micros)
    if (a >> 31) & 15:
        if not (a >> 35) & 7:
            ratio = FLOATS[(a >> 38) & 7]
        elif (a >> 41) & 1:
            ratio = (g >> 11) / 2**53
        else:
            ratio = FLOAT.unpack(WORD.pack(g))[0]
            if ratio - ratio != 0:  # not finite
                ratio = float(g)
    if (a >> 42) & 15:
        ok = bool((a >> 46) & 1)
    note = NOTES[(a >> 47) & 15](d >> 20)
    return (identity(seed, file, row), n, amount, day, at, ratio, ok, note)


def is_bad(seed, file, row):
    """Tells whether the row's record is one that must be refused, in sources that have such: about one of 40."""
    return (words(seed, file, row)[4] >> 20) % 40 == 0


def line(seed, file, row):
    """The row as a line of text, without line end, for formats that have no columns."""
    a, b, _, _, _, _ = words(seed, file, row)
    return f"{identity(seed, file, row)} {b:016x} " + ("žluť, \"quoted\"" if a & 1 else "x" * (a % 60))


def layout(rows, files):
    """How many rows each file has. Sizes differ, and of four files or more, one has no rows."""
    weights = [0 if files >= 4 and k == 2 else 1 + k % 3 for k in range(files)]
    sizes = [rows * w // sum(weights) for w in weights]
    sizes[0] += rows - sum(sizes)
    return sizes
