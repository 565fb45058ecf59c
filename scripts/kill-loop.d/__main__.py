"""The kill loop: exports that are killed, carried on, and judged by the oracle.

A round exports a few thousand rows with the real binary, one or two sinks, one to three subtasks, with a key or without. The
process is killed with SIGKILL one to five times: when the journal has its n-th record, for every n in turn, or at a random
time. It is carried on by `run` in half the rounds and by `resume` in the others, from another working directory, with
another number of subtasks; `status --json` runs in a loop beside it. In the end each row must be at each sink once.
"""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import hdfs
import journal
import product
import rounds
import store
import two
from product import FORMATS
from rounds import Round, Shape


def arguments():
    parser = argparse.ArgumentParser(prog="kill-loop", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=None, help="(default 40, and 8 with --hdfs)")
    parser.add_argument("--rows", type=int, default=2000, help="of the source, each round (default 2000)")
    parser.add_argument("--big", type=int, default=0, help="so many of the rounds have --big-rows rows")
    parser.add_argument("--big-rows", type=int, default=1_000_000)
    parser.add_argument("--long", action="store_true", help="500 rounds, 4000 rows each, one big one for each format")
    parser.add_argument("--term", type=int, default=None, help="rounds of SIGTERM (default 20)")
    parser.add_argument("--two", action="store_true", help="only processes and state directories that compete for a key")
    parser.add_argument("--s3", action="store_true", help="rounds at a real object store, which is killed too")
    parser.add_argument("--hdfs", choices=hdfs.PROTOCOLS, help="rounds at a real HDFS over that protocol, whose daemons are killed too")
    parser.add_argument("--times", type=int, default=100, help="with --two: how often two processes start at once (default 100)")
    parser.add_argument("--seed", type=int, default=None, help="(default: the time)")
    parser.add_argument("--formats", default="all", help="all, existing, or some of " + ",".join(FORMATS))
    parser.add_argument("--jobs", type=int, default=1, help="rounds at the same time (default 1)")
    parser.add_argument("--binary", help="(default: it is built)")
    parser.add_argument("--work", help="folder to work in, which is kept (default: a temporary one, kept after a failure)")
    args = parser.parse_args()
    if args.rounds is None:
        args.rounds = 8 if args.hdfs else 40
    if args.long and (args.s3 or args.hdfs):
        args.rounds, args.rows = 100, 4000
    elif args.long:
        args.rounds, args.rows, args.big = 500, 4000, len(FORMATS)
    args.term = 20 if args.term is None else args.term
    args.seed = int(time.time()) if args.seed is None else args.seed
    args.binary = os.path.abspath(args.binary)
    return args


def existing(binary, work, names):
    """The formats that the binary can export, by asking it for a plan."""
    found = []
    for name in names:
        at = os.path.join(work, f"plan-{name}")
        r = Round(binary, at, Shape(name, 10, 1))
        r.make_source()
        try:
            r.binary.run(["plan", r.job, "--state", r.state], r.elsewhere())
            found.append(name)
        except product.Failure:
            pass
        r.remove()
    return found


def choose_formats(args, work):
    if args.formats == "existing":
        return existing(args.binary, work, FORMATS)
    names = list(FORMATS) if args.formats == "all" else args.formats.split(",")
    if unknown := set(names) - set(FORMATS):
        sys.exit(f"kill-loop: no such formats: {unknown}; there are {', '.join(FORMATS)}")
    if missing := sorted(set(names) - set(existing(args.binary, work, names))):
        sys.exit(f"kill-loop: the binary cannot export {', '.join(missing)}")
    return names


def commit(binary):
    """The commit that the binary says it was built from, with a + if the tree differed; that of this tree if it says none."""
    run = lambda *a: subprocess.run(a, cwd=HERE, capture_output=True, text=True).stdout
    said = dict(line.split("\t")[2].split("=", 1) for line in run("go", "version", "-m", binary).splitlines() if "\tbuild\tvcs." in line)
    if "vcs.revision" in said:
        return said["vcs.revision"][:12] + "+" * (said.get("vcs.modified") == "true")
    return (run("git", "rev-parse", "--short=12", "HEAD").strip() or "unknown") + "?"


class Loop:
    """Plans the rounds, and gathers what they met."""

    def __init__(self, args, work, formats):
        self.args, self.work, self.formats = args, work, formats
        self.second = ["csv", "ndjson"] + ["parquet"] * any(FORMATS[name].sink == "parquet" for name in formats)
        self.kills, self.at, self.total, self.recoveries = Counter(), set(), Counter(), Counter()
        self.failures = []

    def calibrate(self):
        """Measures records by the number of sinks and subtasks, and seconds by format."""
        args, at = self.args, os.path.join(self.work, "calibrate")
        self.records = {(s, t): rounds.calibrate(args.binary, at, Shape("lines" if "lines" in self.formats else self.formats[0], args.rows, 1, s, t))[0]
                        for s in (1, 2) for t in (1, 2, 3)}
        self.seconds = {f: min(rounds.calibrate(args.binary, at, Shape(f, args.rows, 1, 2, 2))[1] for _ in range(3)) for f in self.formats}

    def tasks(self):
        """The rounds, each a function of the seed and its number."""
        args, turns = self.args, Counter()
        big = {args.rounds - 1 - k * (args.rounds // max(args.big, 1)) for k in range(args.big)} if args.big else set()
        for i in range(args.rounds):
            rng = rounds.random_of(args.seed, "round", i)
            rows = args.big_rows if i in big else args.rows
            form = self.formats[sorted(big).index(i) % len(self.formats)] if i in big else self.formats[i % len(self.formats)]
            sinks, subtasks = rng.randint(1, 2), rng.randint(1, 3)
            shape = Shape(form, rows, args.seed * 1000 + i, sinks, subtasks, f"day-{i}" if (i // len(self.formats) + i) % 2 else "")
            records = self.records[sinks, subtasks]
            n = None if i % 5 == 4 else 1 + turns[sinks] % records
            turns[sinks] += n is not None
            seconds = self.seconds[form] * (rows / args.rows if rows > args.rows else 1)
            yield "kill", i, shape, rounds.plan_kills(rng, n, records, bool(shape.key)), seconds
        for i in range(args.term):
            rng = rounds.random_of(args.seed, "term", i)
            form = self.formats[i % len(self.formats)]
            shape = Shape(form, args.rows, args.seed * 1000 + i, rng.randint(1, 2), rng.randint(1, 3), f"term-{i}" if i % 2 else "")
            when = ("record", rng.randint(1, self.records[shape.sinks, shape.subtasks])) if i % 3 else ("time", rng.uniform(0.05, 1.05))
            yield "term", i, shape, when, self.seconds[form]

    def one(self, task):
        kind, i, shape, when, seconds = task
        rng = rounds.random_of(self.args.seed, kind, "inner", i)
        r = Round(self.args.binary, os.path.join(self.work, f"{kind}-{i}"), shape, self.second)
        if kind == "kill":
            out = rounds.kill_round(r, when, rng, seconds, i)
        else:
            out = rounds.term_round(r, when, seconds, rng)
        if not out.failure:
            r.remove()
        return kind, i, shape, r.work, out

    def gather(self, result):
        kind, i, shape, work, out = result
        self.kills.update((kind, state) for state in out.kills)
        self.total.update({"rows": out.rows, "missed": out.missed, "kept": len(out.kept), "status": out.status_calls, kind: 1})
        self.total.update({k: v for k, v in out.counts.items() if k not in ("findings", "rows")})
        self.recoveries.update(out.recoveries)
        if kind == "kill":
            self.at |= out.at
        if out.failure:
            self.failures.append(work)
            print(f"FAILED {kind} round {i} ({shape}): {out.failure}\n  kept in {work}", flush=True)
        elif self.total["kill"] % 20 == 0 and kind == "kill":
            print(f"{self.total['kill']} rounds, {sum(n for (k, _), n in self.kills.items() if k == 'kill')} kills", flush=True)

    def run(self):
        self.calibrate()
        if self.args.jobs == 1:
            for task in self.tasks():
                self.gather(self.one(task))
            return
        with concurrent.futures.ProcessPoolExecutor(self.args.jobs) as pool:
            for future in concurrent.futures.as_completed([pool.submit(self.one, t) for t in self.tasks()]):
                self.gather(future.result())

    def report(self, seconds):
        """Prints the figures, and gives the exit code."""
        args, t = self.args, self.total
        kills = {s: self.kills["kill", s] for s in journal.STATES}
        lacking = [s for s in journal.REQUIRED if args.rounds and not kills[s]]
        missing = sorted(set(range(1, max(self.records.values()))) - self.at)
        terms = sorted((state, n) for (kind, state), n in self.kills.items() if kind == "term")
        if args.rounds:
            print(f"kills with 1 to {max(self.records.values()) - 1} records in the journal; never with {missing or 'none of them left out'}")
            print(f"{t['kept']} artifacts were journaled before a kill, and published as they were")
            print(f"recovered by run {self.recoveries['run']}, by resume {self.recoveries['resume']}; status --json called {t['status']} times; "
                  f"{t['missed']} processes had ended before the signal; "
                  f"{t['probes']} probes were left by processes that had begun no run")
        if args.term:
            print("SIGTERM: " + ", ".join(f"{state} {n}" for state, n in terms))
        for state in lacking:
            print(f"FAILED: no kill met the state {state!r}")
        print(f"kill-loop: rounds {t['kill']} term {t['term']} rows {t['rows']} kills {sum(kills.values())} ("
              + ", ".join(f"{s} {n}" for s, n in kills.items()) + f") lost {t['lost']} twice {t['twice']} foreign {t['foreign']} "
              f"changed {t['changed']} faults {t['faults']} failed {len(self.failures)} formats {','.join(self.formats)} "
              f"seed {args.seed} commit {commit(args.binary)} seconds {seconds:.0f}", flush=True)
        return 1 if self.failures or lacking else 0


def main():
    args = arguments()
    work = args.work or tempfile.mkdtemp(prefix="clinkctl-kill-loop-work-")
    os.makedirs(work, exist_ok=True)
    print(f"kill-loop: seed {args.seed}, work in {work}", flush=True)
    began, code = time.monotonic(), 1
    try:
        if args.s3:
            code = store.run(args, work, commit(args.binary), began)
        elif args.hdfs:
            code = hdfs.run(args, work, commit(args.binary), began)
        elif args.two:
            code = two.run(args, work, commit(args.binary), began)
        else:
            loop = Loop(args, work, choose_formats(args, work))
            loop.run()
            code = loop.report(time.monotonic() - began)
    finally:
        if not args.work and (code == 0 or not os.listdir(work)):  # failed rounds keep their folders
            shutil.rmtree(work)
    return code


if __name__ == "__main__":
    sys.exit(main())
