"""The judges of values: pyarrow, DuckDB and Polars read what we write and write what we read, for every type they have, and
every value of the corpus in testdata/values is compared with the truth. Python's csv and json read it, too.

It prints a table, type x reader x direction: equal, or the reader's limit with its reason. What differs otherwise is a failure.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time

import cases
import corpus
import job
import limits
import refused
import shapes
import taken
import written

ROWS = corpus.MIXED + 5 * corpus.RUN
MANY, MANY_LONG = 1200, 20_000


def arguments():
    parser = argparse.ArgumentParser(prog="values", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="(default: it is built)")
    parser.add_argument("--all", action="store_true", help="every layout of Parquet, more rows, and values of 70 MB")
    parser.add_argument("--table", action="store_true", help="print the table, as Markdown")
    return parser.parse_args()


class Steps:
    """Runs the parts one after another, and says how long each took."""

    def __init__(self):
        self.began = time.monotonic()

    def done(self, board, what):
        now = time.monotonic()
        print(f"values: {what}: {now - self.began:.1f} s, {board.values} values, {len(board.failures)} differences", flush=True)
        self.began = now


def judge(args, runner, board):
    kinds = corpus.read_kinds()
    apart = [k for k in kinds if "beyond" in k.name]  # these make other readers refuse a line
    kinds = [k for k in kinds if k not in apart]
    small = [k for k in kinds if "70 KB" not in k.name]
    steps = Steps()
    for name, of in (("corpus", kinds), ("corpus apart", apart)):
        columns = corpus.table(of, ROWS)
        sinks = written.SINKS + written.VARIANTS
        written.run(runner, board, written.sources(runner.folder(), "corpus", columns), columns, sinks, limits_too=True)
        steps.done(board, f"{name}, we write")
        taken.run(runner, board, columns, "long" if args.all else "short", limits_too=True)
        steps.done(board, f"{name}, they write")
    taken.old_timestamps(runner, board, corpus.table(kinds, ROWS))
    shapes.few_rows(runner, board, small)
    steps.done(board, "no rows, one row")
    shapes.many_rows(runner, board, small, MANY_LONG if args.all else MANY)
    steps.done(board, "many rows")
    shapes.many_columns(runner, board, small, 1000)
    steps.done(board, "1000 columns")
    refused.run(runner, board)
    steps.done(board, "refused values")
    cases.run(runner, board)
    steps.done(board, "cases")
    shapes.time_zones(runner, board, kinds)
    steps.done(board, "time zones and locales")
    if args.all:
        shapes.big_values(runner, board)
        steps.done(board, "values of 70 MB")


def main():
    args = arguments()
    work, board, began = tempfile.mkdtemp(prefix="clinkctl-values-"), limits.Board(), time.monotonic()
    runner = job.Runner(os.path.abspath(args.binary), work)
    try:
        judge(args, runner, board)
    except job.Failure as failure:
        board.fail(str(failure))
    if args.table:
        print(board.table())
    versions = ", ".join(f"{r.NAME} {r.VERSION}" for r in written.JUDGES)
    print(f"values: {versions}: {board.line()}; {board.values} values compared in {runner.runs} runs, {len(board.failures)} differences, "
          f"seconds {time.monotonic() - began:.0f}")
    if board.failures:
        print(f"  kept in {work}")
        return 1
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
