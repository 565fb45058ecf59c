"""One round: an export that is killed some times, carried on each time by `run` or `resume`, and judged at the end."""

import glob
import json
import os
import random
import shutil
import signal
import time
from dataclasses import dataclass, field

import journal
import product
from product import FORMATS, Failure

FILES = 4
UNITS = 5  # checkpoints that an export has, about


@dataclass
class Shape:
    """What is exported, and how."""

    formats: str
    rows: int
    seed: int  # of the source
    sinks: int = 1
    subtasks: int = 1
    key: str = ""


@dataclass
class Outcome:
    """What a round has met and found."""

    kills: list = field(default_factory=list)  # states
    at: set = field(default_factory=set)  # records that the journal had at a kill
    recoveries: dict = field(default_factory=lambda: {"run": 0, "resume": 0})
    kept: dict = field(default_factory=dict)  # digests of the artifacts that were journaled at a kill
    missed: int = 0  # processes that had ended before the signal came
    outlived: int = 0  # processes that ended well while the server was killed
    status_calls: int = 0
    rows: int = 0  # of the source
    counts: dict = field(default_factory=dict)  # of the oracle
    failure: str = ""


class Round:
    """One export in a folder of its own."""

    def __init__(self, binary_path, work, shape, second=("csv", "ndjson")):
        self.shape, self.work = shape, work
        os.makedirs(work)
        self.source, self.state = os.path.join(work, "source"), os.path.join(work, "state")
        self.dests = [os.path.join(work, f"out{i}") for i in range(shape.sinks)]
        self.binary = product.Binary(binary_path, work)
        self.way = way = FORMATS[shape.formats]
        self.truth = ["--seed", shape.seed, "--rows", shape.rows, "--files", FILES, "--format", way.source, *(["--bad"] if way.bad else [])]
        sinks = [(self.dests[0], way.sink)]
        if shape.sinks > 1:
            others = [f for f in second if f != way.sink]
            same = way.copied or way.inferred  # so that the texts of inferred columns are compared
            sinks.append((self.dests[1], way.sink if same else others[shape.seed % len(others)]))
        self.rejects = os.path.join(work, "rejects") if way.bad else ""
        self.job = os.path.join(work, "job.yaml")
        with open(self.job, "w") as f:
            f.write(product.job_text(self.source, way, sinks, shape.subtasks, max(1, shape.rows // UNITS), self.rejects))
        self.dests += [self.rejects] * way.bad  # the last sink
        self.moves = 0

    def make_source(self):
        product.oracle("make", *self.truth, "--compression", self.way.packed, "--to", self.source)

    def elsewhere(self):
        """Another working directory each time."""
        self.moves += 1
        return os.path.join(self.work, f"cwd{self.moves}")

    def run_args(self, state=None):
        return ["run", self.job, "--state", state or self.state] + (["--key", self.shape.key] if self.shape.key else [])

    def resume_args(self, rng):
        args = ["resume", "--state", self.state, "--subtasks", str(rng.randint(1, 3))]
        found = journal.find(self.state)
        names = [[], [self.job]] + ([[os.path.basename(os.path.dirname(found[-1]))]] if found else [])
        return args + rng.choice(names)

    def judge(self, *more):
        args = [*self.truth, *(["--copied"] if self.way.copied else []), *(["--keyed"] if self.shape.key else []), *more]
        if self.rejects:
            args += ["--rejects", self.rejects]
        code, text = product.oracle("judge", "--json", *args, *self.dests[: self.shape.sinks])
        return code, json.loads(text)

    def snapshot(self):
        """All that is visible: name, inode, size and time of change."""
        seen = []
        for dest in self.dests:
            for folder, _, files in os.walk(dest):
                for name in files:
                    s = os.stat(os.path.join(folder, name))
                    seen.append((dest, folder, name, s.st_ino, s.st_size, s.st_mtime_ns))
        return sorted(seen)

    def published(self):
        """The digests of all artifacts of the manifests, by sink and name."""
        found = {}
        for i, dest in enumerate(self.dests):
            for at in glob.glob(os.path.join(dest, "_manifest-*.json")):
                with open(at) as f:
                    found |= {(i, a["name"]): a["digest"] for a in json.load(f)["artifacts"]}
        return found

    def remove(self):
        shutil.rmtree(self.work)


def kill_round(round_, kills, rng, seconds, turn):
    """kills says of each kill when it comes: ("record", n) when there are n further records, ("kind", name) at the next record
    of that name, ("mark", 0) at the key's mark, ("time", share) after a share of the seconds that an export takes."""
    out = Outcome(rows=round_.shape.rows)
    try:
        round_.make_source()
        with product.StatusLoop(round_.binary, round_.state, round_.elsewhere()) as status:
            killing(round_, kills, rng, seconds, turn, out)
        out.status_calls = status.calls
        finish(round_, rng, out)
    except Failure as failure:
        out.failure = str(failure)
    return out


def recovery(round_, rng, turn, out):
    how = "run" if turn % 2 else "resume"
    if how == "resume" and not journal.find(round_.state):
        how = "run"  # nothing was begun, so there is nothing to resume
    out.recoveries[how] += 1
    return round_.run_args() if how == "run" else round_.resume_args(rng)


def killing(round_, kills, rng, seconds, turn, out):
    args = round_.run_args()
    for n, (how, when) in enumerate(kills):
        before = journal.count(round_.state)
        process = round_.binary.start(args, round_.elsewhere())
        if how == "record":
            journal.Watch(round_.state).wait(before + when, process)
        elif how == "kind":
            journal.wait_for_kind(round_.state, when, process)
        elif how == "mark":
            journal.wait_for_mark(round_.dests, process)
        else:
            time.sleep(seconds * when)
        code = product.kill(process)
        if code == 0:
            out.missed += 1
            return
        if code != -signal.SIGKILL:
            raise Failure(f"`clinkctl {' '.join(args)}` exits {code} by itself")
        out.kills.append(journal.state_of(round_.state, round_.dests))
        out.at.add(journal.count(round_.state))
        out.kept |= journal.handles(round_.state)
        args = recovery(round_, rng, turn + n, out)
    round_.binary.run(args, round_.elsewhere())


def finish(round_, rng, out):
    """The last command has exited 0. Now nothing may be open, further commands change nothing, and the oracle is asked."""
    before = round_.snapshot()
    round_.binary.run(round_.run_args(), round_.elsewhere())
    round_.binary.run(["resume", "--state", round_.state], round_.elsewhere())
    if round_.snapshot() != before:
        raise Failure("`run` and `resume` after the end have changed the destination")
    ends = [list(r)[-1] for r in map(lambda at: journal.records(at)[-1], journal.find(round_.state))]
    if ends != ["ended"]:
        raise Failure(f"the state directory has runs whose last records are {ends}, and should have one that has ended")
    published = round_.published()
    if again := [name for name, sum_ in out.kept.items() if published.get(name) != sum_]:
        raise Failure(f"artifacts that were prepared before a kill are published otherwise, or not at all: {again}")
    code, out.counts = round_.judge()
    if code:
        raise Failure("the oracle: " + "; ".join(out.counts["findings"][:8]))
    refused = out.counts["refused"]
    if out.counts["rows"] != (round_.shape.rows - refused) * round_.shape.sinks + refused or bool(refused) != round_.way.bad:
        raise Failure(f"the oracle read {out.counts['rows']} rows")


def plan_kills(rng, n_first, records, keyed):
    """The kills of a round: the first at record n_first, or at a random time if that is None, then up to four further ones.
    Of a keyed round that begins at a random time, the second one may be at the mark."""
    first = ("record", n_first) if n_first else ("time", rng.uniform(0, 1.1))
    kills = [first]
    for k in range(rng.randint(0, 4)):
        if k == 0 and keyed and n_first is None:
            kills.append(("mark", 0))
            continue
        how = rng.random()
        if how < 0.45:
            kills.append(("record", rng.randint(1, max(1, records // 2))))
        elif how < 0.65:
            kills.append(("kind", rng.choice(["prepared", "decided", "finished", "manifest"])))
        else:
            kills.append(("time", rng.uniform(0, 0.8)))
    return kills


def term_round(round_, when, seconds, rng):
    """SIGTERM at a random moment, soon after a record or after a share of the seconds: the exit is 3, or 0, or the process had
    not begun anything."""
    out = Outcome(rows=round_.shape.rows)
    try:
        round_.make_source()
        process = round_.binary.start(round_.run_args(), round_.elsewhere())
        how, n = when
        if how == "record":
            journal.Watch(round_.state).wait(n, process)
            time.sleep(rng.uniform(0, 0.002))
        else:
            time.sleep(seconds * n)
        began = time.monotonic()
        code = product.kill(process, signal.SIGTERM)
        took = time.monotonic() - began
        begun = bool(journal.find(round_.state))
        allowed = (0, 3) if begun else (1, 0, -signal.SIGTERM)
        if code not in allowed:
            raise Failure(f"SIGTERM at {how} {n}: the exit is {code}, and a run is {'' if begun else 'not '}begun")
        if took > 10:
            raise Failure(f"SIGTERM: the process took {took:.1f} s to end")
        state = journal.state_of(round_.state, round_.dests)
        out.kills.append("not begun" if not begun else "exit 0" if code == 0 else f"exit 3 ({state})")
        if code != 0:
            round_.binary.run(recovery(round_, rng, round_.shape.seed, out), round_.elsewhere())
        finish(round_, rng, out)
    except Failure as failure:
        out.failure = str(failure)
    return out


def calibrate(binary_path, work, shape):
    """Exports undisturbed, and gives the number of records and the seconds."""
    round_ = Round(binary_path, work, shape)
    try:
        round_.make_source()
        began = time.monotonic()
        round_.binary.run(round_.run_args(), round_.elsewhere())
        seconds = time.monotonic() - began
        return journal.count(round_.state), seconds
    finally:
        round_.remove()


def random_of(seed, *names):
    return random.Random(f"{seed} {names}")
