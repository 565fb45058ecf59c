"""Rounds at a real server: the process is killed, and the server too.

A server is a class like store.Store. It has kill(), start() and stop(), a name for people, what, the share of processes that it
is killed beside, and spares: whether some of these are left alone, to end by themselves.
"""

import os
import signal
import threading
import time
from collections import Counter

import journal
import product
import rounds
from product import FORMATS, Failure
from rounds import Outcome, Round, Shape

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class ServerRound(Round):
    """A round whose first sink, or both, are at the server."""

    state_there = False

    def __init__(self, binary_path, work, shape, server, name, local_second):
        super().__init__(binary_path, work, shape)
        self.server = server
        with open(self.job) as f:
            text = f.read()
        for i, dest in enumerate(self.dests):
            if i > 0 and local_second or dest == self.rejects:
                continue
            text = text.replace(f"to: {dest}\n", self.place(i, f"{name}/out{i}"))
        with open(self.job, "w") as f:
            f.write(text + self.more())

    def place(self, i, prefix):
        """Puts a sink there, and gives the lines of the job that say so."""
        raise NotImplementedError

    def more(self):
        """Further lines of the job."""
        return ""

    def begun(self):
        return bool(journal.find(self.state))

    def state_now(self):
        """The state that the export is in, of journal.STATES."""
        return journal.state_of(self.state, self.dests)

    def wait_for_mark(self, process):
        journal.wait_for_mark(self.dests, process)

    def may_end(self, code):
        """Whether a process may end so while the server is killed."""
        return code in (1, 3)

    def end(self, rng, out):
        """The last command has exited 0: nothing may be open, staged or left, and the oracle is asked."""
        rounds.finish(self, rng, out)


def unrest(server, rng, over, trouble):
    """Kills the server after a moment, and starts it again after another."""
    if over.wait(rng.uniform(0.02, 0.4)):
        return
    try:
        server.kill()
        time.sleep(rng.uniform(0.2, 1.0))
        server.start()
    except Exception as e:
        trouble.append(e)


END = ("end", 0)  # a moment that is none: the process is left alone


def attempt(r, args, when, rng, shake):
    """Starts the process, kills it at a moment, and gives its exit code. With shake the server is killed meanwhile."""
    over, trouble = threading.Event(), []
    other = threading.Thread(target=unrest, args=(r.server, rng, over, trouble)) if shake else None
    how, n = when
    before = 0 if r.state_there else journal.count(r.state)
    process = r.binary.start(args, r.elsewhere())
    if other:
        other.start()
    if how == "record" and not r.state_there:
        journal.Watch(r.state).wait(before + n, process)
    elif how == "kind" and not r.state_there:
        journal.wait_for_kind(r.state, n, process)
    elif how == "mark":
        r.wait_for_mark(process)
    elif how != "end":
        time.sleep(rng.uniform(0.02, 0.5))
    try:
        return product.finish(process) if when == END else product.kill(process)
    finally:
        over.set()
        if other:
            other.join()
        if trouble:
            raise trouble[0]


def one(r, kills, rng, turn, shakes):
    out = Outcome(rows=r.shape.rows)
    try:
        r.make_source()
        args = r.run_args()
        for n, when in enumerate(kills):
            shake = shakes and rng.random() < r.server.share
            if shake and r.server.spares and rng.random() < 0.3:
                when = END
            code = attempt(r, args, when, rng, shake)
            if code == 0:
                out.missed += when != END
                out.outlived += when == END
                break
            if code != -signal.SIGKILL and not (shake and r.may_end(code)):
                raise Failure(f"`clinkctl {' '.join(args)}` exits {code} by itself")
            out.kills.append(f"by itself, as {r.server.what} was killed" if code != -signal.SIGKILL else "" if r.state_there else r.state_now())
            if not r.state_there:
                out.kept |= journal.handles(r.state)
            how = "run" if (turn + n) % 2 or not r.begun() else "resume"
            out.recoveries[how] += 1
            args = r.run_args() if how == "run" else r.resume_args(rng)
        r.binary.run(args, r.elsewhere())
        r.end(rng, out)
    except Failure as failure:
        out.failure = str(failure)
    return out


def odd(hidden):
    """The names in a hidden folder that nothing may leave there."""
    return [name for name in hidden if name not in ("id", "state") and not name.startswith("key-")]


def run(args, work, kind, server, make):
    """Runs the rounds, and gives totals, kills by state, and folders of rounds that failed. make makes the round of a number."""
    total, kills, failed = Counter(), Counter(), []
    names = list(FORMATS)
    try:
        for i in range(args.rounds):
            rng = rounds.random_of(args.seed, kind, i)
            sinks = rng.randint(1, 2)
            way = FORMATS[names[i % len(names)]]
            rows = args.rows if i % 6 or way.bad else 60_000  # a few artifacts of several parts
            shape = Shape(names[i % len(names)], rows, args.seed * 1000 + i, sinks, rng.randint(1, 3), f"day-{i}" if i % 2 else "")
            r = make(i, os.path.join(work, f"{kind}-{i}"), shape)
            out = one(r, rounds.plan_kills(rng, rng.randint(1, 12), 12, bool(shape.key)), rng, i, shakes=i % 3 != 1)
            kills.update(out.kills)
            total.update({"rows": out.rows, "kept": len(out.kept), "missed": out.missed, "outlived": out.outlived, **out.recoveries})
            total.update({k: v for k, v in out.counts.items() if k in ("lost", "twice", "foreign", "changed", "probes")})
            if out.failure:
                failed.append(r.work)
                print(f"FAILED {kind} round {i} ({shape}, state there {r.state_there}): {out.failure}\n  kept in {r.work}", flush=True)
            else:
                r.remove()
    finally:
        server.stop()
    return total, kills, failed


def states(kills):
    """Kills by state, in words."""
    return ", ".join(f"{s or 'state at the store'} {n}" for s, n in sorted(kills.items()))


def counts(total, failed, args, commit, began):
    """The end of the line that says what was met."""
    return (f"kept {total['kept']} lost {total['lost']} twice {total['twice']} foreign {total['foreign']} changed {total['changed']} "
            f"failed {len(failed)} seed {args.seed} commit {commit} seconds {time.monotonic() - began:.0f}")
