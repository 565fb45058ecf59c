"""The oracle of the kill loop: makes source data from a seed, and judges what an export made of it. It shares no code with
the product.

  python3 scripts/oracle make --seed 7 --rows 1000 --files 3 --format csv [--compression gzip] [--bad] --to DIR
  python3 scripts/oracle judge --seed 7 --rows 1000 --files 3 --format csv [--copied] [--keyed] [--bad --rejects DIR] DESTINATION...
  python3 scripts/oracle columns           the names and types of the columns, one a line
  python3 scripts/oracle selftest          plants faults of every kind and asserts that each is seen

judge exits 0 if every destination has each row exactly once, as its manifest says, and 1 after any finding.
"""

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import judge
import selftest
import source
import truth


def arguments():
    parser = argparse.ArgumentParser(prog="oracle", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    make, judging = commands.add_parser("make"), commands.add_parser("judge")
    for p in (make, judging):
        p.add_argument("--seed", type=int, required=True)
        p.add_argument("--rows", type=int, required=True, help="of all files together")
        p.add_argument("--files", type=int, default=3)
        p.add_argument("--format", choices=sorted(source.EXTENSIONS), required=True, help="of the source")
        p.add_argument("--bad", action="store_true", help="the source has records that must be refused")
    make.add_argument("--compression", choices=sorted(source.COMPRESSIONS), default="")
    make.add_argument("--to", required=True, help="folder for the source files")
    judging.add_argument("--copied", action="store_true", help="records were copied unparsed")
    judging.add_argument("--keyed", action="store_true", help="the destinations together have a key mark for each manifest")
    judging.add_argument("--manifests", type=int, default=1, help="complete exports that each destination must have")
    judging.add_argument("--orphans", action="store_true", help="a state directory was removed, so staged files may be left")
    judging.add_argument("--rejects", help="the destination of records that are refused")
    judging.add_argument("--json", action="store_true")
    judging.add_argument("dest", nargs="+")
    commands.add_parser("columns")
    test = commands.add_parser("selftest")
    test.add_argument("--formats", default="csv,ndjson,txt,parquet")
    return parser.parse_args()


def judge_all(args):
    total = judge.Report()
    truth_of = lambda rejects: judge.Truth(args.seed, args.rows, args.files, args.format, args.copied or args.format == "lines", args.bad, rejects)
    what, dests = truth_of(False), args.dest + ([args.rejects] if args.rejects else [])
    for dest in args.dest:
        total.merge(judge.judge(dest, what, args.manifests, args.orphans))
    if args.rejects:
        total.merge(judge.judge(args.rejects, truth_of(True), args.manifests, args.orphans))
    total.refused = what.refused
    marks, want = sum(map(judge.key_marks, dests)), args.manifests if args.keyed else 0
    if marks != want:
        total.add("faults", f"there are {marks} key marks, and should be {want}")
    if args.json:
        print(json.dumps(total.as_dict(), ensure_ascii=False))
    else:
        print("\n".join([*total.said, total.line()]))
    return 0 if total.clean() else 1


def main():
    args = arguments()
    if args.command == "make":
        print("\n".join(source.make(args.to, args.format, args.seed, args.rows, args.files, args.compression, args.bad)))
        return 0
    if args.command == "judge":
        return judge_all(args)
    if args.command == "columns":
        print("\n".join(f"{name} {type_}" for name, type_ in truth.COLUMNS))
        return 0
    return selftest.run(args.formats.split(","))


if __name__ == "__main__":
    sys.exit(main())
