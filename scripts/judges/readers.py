"""Looks at a destination as others do, with DuckDB, Polars and pyarrow, by `*.ext` and by `**/*.ext`.

A destination has one committed export. A second one is stopped when it has staged some of its artifacts: every reader must see
the first export's rows and no other. Then it is killed and resumed: every reader must see both exports' rows, and of Parquet
files the very values.
"""

import argparse
import glob
import os
import shutil
import signal
import sys
import tempfile

import duckdb
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), name) for name in ("kill-loop.d", "oracle")]

import journal
import product
import rounds
import truth
from product import Failure

rounds.UNITS = 10  # so that there is time to stop an export between two of them

FORMATS = {"parquet": "csv-parquet", "csv": "csv-csv", "ndjson": "csv-ndjson"}
PATTERNS = ("*", "**/*")
COLUMNS = ", ".join(f'"{name}"' for name in truth.NAMES)
TRIES = 20
# What pyarrow makes of JSON; it takes decimals from strings only.
JSON = pa.schema([("id", pa.string()), ("n", pa.int64()), ("amount", pa.float64()), ("day", pa.string()), ("at", pa.string()),
                  ("ratio", pa.float64()), ("ok", pa.bool_()), ("note", pa.string())])


def by_duckdb(pattern, ext):
    read = {"parquet": "read_parquet('{}')", "csv": "read_csv('{}', header=true, delim=',', quote='\"', escape='\"', all_varchar=true)",
            "ndjson": "read_json('{}', format='newline_delimited')"}[ext].format(pattern)
    try:
        return duckdb.sql(f"SELECT {COLUMNS} FROM {read}").fetchall()
    except duckdb.IOException as error:
        if "No files found" in str(error):
            return []
        raise


def by_polars(pattern, ext):
    if not glob.glob(pattern, recursive=True, include_hidden=True):
        return []  # polars answers an error
    scan = {"parquet": polars.scan_parquet, "csv": lambda p: polars.scan_csv(p, infer_schema=False), "ndjson": polars.scan_ndjson}[ext]
    return scan(pattern).select(truth.NAMES).collect().rows()


def by_pyarrow(pattern, ext):
    files = glob.glob(pattern, recursive=True, include_hidden=True)
    return rows_of_dataset(pa.dataset.dataset(files, **pyarrow_options(ext))) if files else []


def by_pyarrow_folder(pattern, ext):
    """As pyarrow finds files by itself, in a folder and those below it."""
    folder = pattern.split("*")[0]
    return rows_of_dataset(pa.dataset.dataset(folder, **pyarrow_options(ext))) if glob.glob(f"{folder}*.{ext}") else []


def pyarrow_options(ext):
    if ext == "csv":
        parse = pa.csv.ParseOptions(newlines_in_values=True)
        convert = pa.csv.ConvertOptions(column_types={name: pa.string() for name in truth.NAMES})
        return {"format": pa.dataset.CsvFileFormat(parse_options=parse, convert_options=convert)}
    if ext == "ndjson":
        return {"format": "json", "schema": JSON}
    return {"format": "parquet"}


def rows_of_dataset(dataset):
    table = dataset.to_table(columns=truth.NAMES)
    return list(zip(*(column.to_pylist() for column in table.columns)))


READERS = {"DuckDB": by_duckdb, "Polars": by_polars, "pyarrow": by_pyarrow, "pyarrow, a folder": by_pyarrow_folder}


class Look:
    """Compares what all readers see with what they should."""

    def __init__(self):
        self.looks = self.values = 0

    def see(self, dest, ext, seeds, rows, when):
        expected = sorted(truth.values(seed, file, row) for seed in seeds for file, n in enumerate(truth.layout(rows, rounds.FILES))
                          for row in range(n))
        for pattern in PATTERNS:
            for name, read in READERS.items():
                got = sorted(read(os.path.join(dest, f"{pattern}.{ext}"), ext), key=lambda row: row[0])
                self.looks += 1
                self.compare(got, expected, ext, f"{when}: {name} reads {pattern}.{ext}")

    def compare(self, got, expected, ext, what):
        if [row[0] for row in got] != [row[0] for row in expected]:
            raise Failure(f"{what}: {len(got)} rows of the exports {sorted({row[0].split('.')[0] for row in got})}, and not the {len(expected)} that are committed")
        if ext != "parquet":
            return
        for a, b in zip(got, expected):
            if a != b:
                raise Failure(f"{what}: {a} and not {b}")
        self.values += len(got) * len(truth.NAMES)


def stop_staged(round_, key, units):
    """Starts an export and stops it when it has prepared some units and is not decided; gives the process."""
    before = set(journal.find(round_.state))
    for _ in range(TRIES):
        process = round_.binary.start(["run", round_.job, "--state", round_.state, "--key", key], round_.elsewhere())
        while process.poll() is None:
            new = set(journal.find(round_.state)) - before
            if new and sum(b'"prepared"' in line for line in journal.lines(new.pop())) >= units:
                process.send_signal(signal.SIGSTOP)
                break
        new = sorted(set(journal.find(round_.state)) - before)
        said = {list(r)[-1] for r in journal.records(new[-1])} if new else set()
        if process.poll() is None and "prepared" in said and "decided" not in said:
            return process
        product.kill(process)
        if "decided" in said:
            raise Failure("the export was decided before it could be stopped: give more --rows")
    raise Failure("the export could not be stopped while it was staged")


def would_be_seen(dest, ext, seeds, rows):
    """Shows that looking is worth something: a staged file that had the extension of data would be seen."""
    planted = os.path.join(dest, ".clinkctl", f"planted.{ext}")
    shutil.copy(sorted(glob.glob(os.path.join(dest, f"*.{ext}")))[0], planted)
    try:
        Look().see(dest, ext, seeds, rows, "planted")
    except Failure:
        return
    finally:
        os.remove(planted)
    raise Failure(f"{planted} was seen by no reader, so nothing is proved by what they see")


def judge(args, work, ext, subtasks, look):
    """One format: a committed export, a staged one beside it, both committed. A destination that has none is looked at, too."""
    at = os.path.join(work, f"{ext}-{subtasks}")
    shape = rounds.Shape(FORMATS[ext], args.rows, args.seed, 1, subtasks, "first")
    round_ = rounds.Round(args.binary, at, shape)
    round_.make_source()
    dest = round_.dests[0]
    process = stop_staged(round_, "first", 1)
    look.see(dest, ext, [], args.rows, "staged, alone")
    product.kill(process)
    look.see(dest, ext, [], args.rows, "killed, alone")
    round_.binary.run(["resume", "--state", round_.state], round_.elsewhere())
    look.see(dest, ext, [args.seed], args.rows, "resumed, alone")
    shutil.rmtree(round_.source)
    product.oracle("make", "--seed", args.seed + 1, "--rows", args.rows, "--files", rounds.FILES, "--format", "csv", "--to", round_.source)
    process = stop_staged(round_, "second", 2)
    staged = sum(len(files) for folder, _, files in os.walk(os.path.join(dest, ".clinkctl")) if folder != os.path.join(dest, ".clinkctl"))
    look.see(dest, ext, [args.seed], args.rows, "staged")
    product.kill(process)
    round_.binary.run(["resume", "--state", round_.state], round_.elsewhere())
    look.see(dest, ext, [args.seed, args.seed + 1], args.rows, "resumed")
    would_be_seen(dest, ext, [args.seed, args.seed + 1], args.rows)
    print(f"readers: {ext}, {subtasks} subtasks: {staged} staged files were seen by nobody, {2 * args.rows} rows by all")
    round_.remove()


def main():
    parser = argparse.ArgumentParser(prog="readers.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--formats", default=",".join(FORMATS))
    args = parser.parse_args()
    args.binary = os.path.abspath(args.binary)
    work, look = tempfile.mkdtemp(prefix="clinkctl-readers-work-"), Look()
    try:
        for ext in args.formats.split(","):
            for subtasks in (1, 3):
                judge(args, work, ext, subtasks, look)
    except Failure as failure:
        print(f"FAILED: {failure}\n  kept in {work}")
        return 1
    shutil.rmtree(work)
    print(f"readers: DuckDB {duckdb.__version__}, Polars {polars.__version__}, pyarrow {pa.__version__}: {look.looks} looks, "
          f"{look.values} values compared, no staged row seen, seed {args.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
