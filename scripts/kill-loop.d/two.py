"""Processes and state directories that compete for one key. Whatever they do to each other, the key is exported once."""

import os
import shutil
import time
from collections import Counter

import journal
import product
import rounds
from product import Failure
from rounds import Round, Shape

ROWS = 500
ROWS_AT_ONCE = 8000  # so that one process is still at work when the other begins


class Competition:
    """Runs cases, each in a folder of its own, and gathers what they met."""

    def __init__(self, args, work):
        self.args, self.work = args, work
        self.cases, self.counts, self.failures = Counter(), Counter(), []

    def round(self, name, i, **shape):
        at = os.path.join(self.work, f"{name}-{i}")
        s = Shape(self.formats[i % len(self.formats)], seed=self.args.seed * 1000 + i, **{"rows": ROWS, "sinks": 1 + i % 2, "subtasks": 1 + i % 3, "key": f"day-{i}", **shape})
        r = Round(self.args.binary, at, s)
        r.make_source()
        return r

    def case(self, name, i, run, **shape):
        """Runs a case and judges its destination. run gives what happened, and further arguments for the oracle."""
        r = self.round(name, i, **shape)
        try:
            what, more = run(r, i)
            code, found = r.judge(*more)
            self.counts.update({k: found[k] for k in ("lost", "twice", "foreign", "changed", "faults")})
            if code:
                raise Failure("the oracle: " + "; ".join(found["findings"][:8]))
            self.cases[name, what] += 1
            r.remove()
        except Failure as failure:
            self.failures.append(r.work)
            print(f"FAILED {name} {i} ({r.shape}): {failure}\n  kept in {r.work}", flush=True)

    def run(self):
        names = ("csv", "csv-ndjson", "lines", "parquet-csv", "csv-parquet-bad") if self.args.formats in ("all", "existing") else self.args.formats.split(",")
        self.formats = names
        for i in range(self.args.times):
            self.case("at once", i, at_once, rows=ROWS_AT_ONCE)
        for i in range(max(self.args.times // 5, 1)):
            self.case("two keys", i, two_keys)
        n = max(rounds.calibrate(self.args.binary, os.path.join(self.work, "calibrate"), Shape(names[0], ROWS, 1, s, t, "k"))[0]
                for s in (1, 2) for t in (1, 2, 3))
        for i in range(1, n + 1):
            self.case("one state wiped", i, killed_and_wiped)
            self.case("both alive", i, killed_beside)
            self.case("state wiped under it", i, wiped_under)
        self.records = n


def other_state(r):
    return os.path.join(r.work, "state-b")


def at_once(r, i):
    """The same key twice at once, one state directory: one exports, the other answers 5, or 0 if it came late."""
    a, b = (r.binary.start(r.run_args(), r.elsewhere()) for _ in range(2))
    codes = sorted((product.finish(a), product.finish(b)))
    if codes[0] != 0 or codes[1] not in (0, 5):
        raise Failure(f"two processes with one key exit {codes}")
    runs = journal.find(r.state)
    if len(runs) != 1:
        raise Failure(f"two processes with one key have made {len(runs)} runs in one state directory")
    return f"exits {codes[0]} and {codes[1]}", []


def two_keys(r, i):
    """Different keys of one job side by side: both export."""
    args = r.run_args()
    a, b = r.binary.start(args, r.elsewhere()), r.binary.start(args[:-1] + ["another"], r.elsewhere())
    codes = (product.finish(a), product.finish(b))
    if codes != (0, 0):
        raise Failure(f"two keys side by side exit {codes}")
    return "exits 0 and 0", ["--manifests", 2]


def killed_and_wiped(r, i):
    """Killed at record i, its state directory wiped: another state directory finishes the key."""
    a = r.binary.start(r.run_args(), r.elsewhere())
    journal.Watch(r.state).wait(i, a)
    product.kill(a)
    state = journal.state_of(r.state, r.dests)
    shutil.rmtree(r.state, ignore_errors=True)
    r.binary.run(r.run_args(other_state(r)), r.elsewhere())
    return state, ["--orphans"]


def killed_beside(r, i):
    """Two state directories at once. The first process is killed at record i, its state directory is wiped."""
    a = r.binary.start(r.run_args(), r.elsewhere())
    b = r.binary.start(r.run_args(other_state(r)), r.elsewhere())
    journal.Watch(r.state).wait(i, a)
    product.kill(a)
    state = journal.state_of(r.state, r.dests)
    shutil.rmtree(r.state, ignore_errors=True)
    if (code := product.finish(b)) != 0:
        raise Failure(f"the process that nobody disturbed exits {code}, the other was killed: {state}")
    return state, ["--orphans"]


def wiped_under(r, i):
    """The state directory is wiped under a process that has written record i. The process may not say that it is done unless it
    is; a new one with a new state directory finishes."""
    a = r.binary.start(r.run_args(), r.elsewhere())
    journal.Watch(r.state).wait(i, a)
    shutil.rmtree(r.state, ignore_errors=True)
    if i % 2:
        code = product.finish(a)
        r.binary.run(r.run_args(), r.elsewhere())
    else:  # it lives on beside its successor
        r.binary.run(r.run_args(), r.elsewhere(), want=(0, 3, 5))
        code = product.finish(a)
        r.binary.run(r.run_args(), r.elsewhere())
    if code not in (0, 1, 3, 4, 5):
        raise Failure(f"a process whose state directory was wiped exits {code}")
    return f"exit {code}", ["--orphans"]


def run(args, work, commit, began):
    c = Competition(args, work)
    c.run()
    for name in dict.fromkeys(n for n, _ in c.cases):
        print(f"{name}: " + ", ".join(f"{what} {n}" for (of, what), n in sorted(c.cases.items()) if of == name))
    print(f"kill-loop --two: cases {sum(c.cases.values())} records {c.records} lost {c.counts['lost']} twice {c.counts['twice']} foreign "
          f"{c.counts['foreign']} changed {c.counts['changed']} faults {c.counts['faults']} failed {len(c.failures)} seed {args.seed} "
          f"commit {commit} seconds {time.monotonic() - began:.0f}", flush=True)
    return 1 if c.failures else 0
