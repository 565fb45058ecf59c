"""Rounds at a real object store: the process is killed, and the store too."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter

import journal
import product
import rounds
from product import FORMATS, Failure
from rounds import Outcome, Round, Shape

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SERVICE = os.path.join(ROOT, "scripts/services/versitygw")
BUCKET = "kill"
BEAT = "200ms"  # of a state at the store
PART = 5 << 20


class Store:
    """versitygw on a folder. It has no state but its files: objects are files under their keys, and uploads are folders."""

    def __init__(self, work):
        self.dir = os.path.join(work, "store")
        text = subprocess.run([SERVICE, "start", self.dir], check=True, capture_output=True, text=True).stdout
        said = dict(word.split("=", 1) for word in text.replace("export", "").split())
        os.makedirs(os.path.join(self.dir, "data", BUCKET), exist_ok=True)
        os.environ.pop("AWS_CA_BUNDLE", None)
        os.environ.update(AWS_ENDPOINT_URL=said["CLINKCTL_TEST_S3"], AWS_ACCESS_KEY_ID=said["CLINKCTL_TEST_S3_ACCESS_KEY"],
                          AWS_SECRET_ACCESS_KEY=said["CLINKCTL_TEST_S3_SECRET_KEY"], AWS_EC2_METADATA_DISABLED="true", CLINKCTL_TEST_BEAT=BEAT)
        self.kills = self.undone = self.probes = 0

    def folder(self, prefix):
        return os.path.join(self.dir, "data", BUCKET, prefix)

    def uploads(self):
        """Keys of the uploads that are open, but for those of probes: a process that was killed before its run was begun may leave
        one, and nobody knows of it."""
        found, root = [], os.path.join(self.dir, "data", BUCKET, ".sgwtmp", "multipart")
        for name in os.listdir(root) if os.path.isdir(root) else []:
            at = os.path.join(root, name)
            try:
                if os.listdir(at):
                    found.append(os.getxattr(at, "user.objname").decode())
            except OSError:
                pass  # the store was killed before it had given the folder its key: it does not know of it
        self.probes = sum("/.clinkctl/probe-" in key for key in found)
        return [key for key in found if "/.clinkctl/probe-" not in key]

    def kill(self):
        subprocess.run([SERVICE, "stop", self.dir], check=True)
        self.kills += 1

    def start(self):
        """Starts the store again. versitygw gives an upload that it completes another name, and back if that fails; of one that was
        killed meanwhile it knows no more. What it would have undone itself is undone for it."""
        for folder, folders, _ in os.walk(os.path.join(self.dir, "data", BUCKET, ".sgwtmp", "multipart")):
            for name in folders:
                if name.endswith(".inprogress"):
                    os.rename(os.path.join(folder, name), os.path.join(folder, name.split(".")[0]))
                    self.undone += 1
        subprocess.run([SERVICE, "restart", self.dir], check=True)

    def stop(self):
        subprocess.run([SERVICE, "stop", self.dir], check=True)


class StoreRound(Round):
    """A round whose first sink, or both, are prefixes at the store, and whose state may be there too."""

    def __init__(self, binary_path, work, shape, store, name, local_second, state_there):
        super().__init__(binary_path, work, shape)
        self.store, self.state_there = store, state_there
        with open(self.job) as f:
            text = f.read()
        for i, dest in enumerate(self.dests):
            if i > 0 and local_second or dest == self.rejects:
                continue
            text = text.replace(f"to: {dest}\n", f"to: s3://{BUCKET}/{name}/out{i}\n    s3: {{part_size: {PART >> 20}MiB, timeout: 20s}}\n")
            self.dests[i] = store.folder(f"{name}/out{i}")
        if state_there:
            self.state = "sink"
            text += "state: sink\n"
        with open(self.job, "w") as f:
            f.write(text + "commit_wait: 5s\n")

    def resume_args(self, rng):
        if self.state_there:
            return ["resume", self.job, "--subtasks", str(rng.randint(1, 3))]
        return super().resume_args(rng)

    def visible(self):
        return sorted(name for dest in self.dests for name in os.listdir(dest))

    def begun(self):
        if not self.state_there:
            return bool(journal.find(self.state))
        return os.path.isdir(os.path.join(self.dests[0], ".clinkctl", "state", "job", "keys"))


def unrest(store, rng, over):
    """Kills the store after a moment, and starts it again after another."""
    if over.wait(rng.uniform(0.02, 0.4)):
        return
    store.kill()
    time.sleep(rng.uniform(0.2, 1.0))
    store.start()


def attempt(r, args, when, rng, shake):
    """Starts the process, kills it at a moment, and gives its exit code. With shake the store is killed meanwhile."""
    over = threading.Event()
    other = threading.Thread(target=unrest, args=(r.store, rng, over)) if shake else None
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
        journal.wait_for_mark(r.dests, process)
    else:
        time.sleep(rng.uniform(0.02, 0.5))
    code = product.kill(process)
    over.set()
    if other:
        other.join()
    return code


def one(r, kills, rng, turn, shakes):
    out = Outcome(rows=r.shape.rows)
    try:
        r.make_source()
        args = r.run_args()
        for n, when in enumerate(kills):
            shake = shakes > 0 and rng.random() < 0.5
            code = attempt(r, args, when, rng, shake)
            if code == 0:
                out.missed += 1
                break
            if code != -signal.SIGKILL and not (shake and code in (1, 3)):
                raise Failure(f"`clinkctl {' '.join(args)}` exits {code} by itself")
            out.kills.append("by itself, as the store was killed" if code != -signal.SIGKILL else "" if r.state_there else journal.state_of(r.state, r.dests))
            if not r.state_there:
                out.kept |= journal.handles(r.state)
            how = "run" if (turn + n) % 2 or not r.begun() else "resume"
            out.recoveries[how] += 1
            args = r.run_args() if how == "run" else r.resume_args(rng)
        r.binary.run(args, r.elsewhere())
        end(r, rng, out)
    except Failure as failure:
        out.failure = str(failure)
    return out


def end(r, rng, out):
    """The last command has exited 0: nothing may be open, staged or left, and the oracle is asked."""
    if r.state_there:
        r.binary.run(["resume", r.job], r.elsewhere())
        before = r.visible()
        r.binary.run(r.run_args(), r.elsewhere())
        if r.visible() != before:
            raise Failure("`run` after the end has changed the destination")
        shutil.move(os.path.join(r.dests[0], ".clinkctl", "state"), os.path.join(r.work, "state-there"))
        code, out.counts = r.judge()
        if code:
            raise Failure("the oracle: " + "; ".join(out.counts["findings"][:8]))
    else:
        rounds.finish(r, rng, out)
    if left := r.store.uploads():
        raise Failure(f"uploads are left: {left[:5]}")
    for dest in r.dests:
        hidden = os.path.join(dest, ".clinkctl")
        odd = [n for n in os.listdir(hidden) if n not in ("id", "state") and not n.startswith("key-")] if os.path.isdir(hidden) and r.store.dir in dest else []
        if odd:
            raise Failure(f"{odd} are left in {hidden}")


def run(args, work, commit, began):
    store = Store(work)
    total, kills, failed = Counter(), Counter(), []
    names = [n for n in FORMATS]
    try:
        for i in range(args.rounds):
            rng = rounds.random_of(args.seed, "store", i)
            state_there = i % 3 == 2
            sinks = rng.randint(1, 2)
            way = FORMATS[names[i % len(names)]]
            rows = args.rows if i % 6 or way.bad else 60_000  # a few artifacts of several parts
            shape = Shape(names[i % len(names)], rows, args.seed * 1000 + i, sinks, rng.randint(1, 3), f"day-{i}" if i % 2 else "")
            r = StoreRound(args.binary, os.path.join(work, f"store-{i}"), shape, store, f"round-{i}", i % 4 == 1, state_there)
            out = one(r, rounds.plan_kills(rng, rng.randint(1, 12), 12, bool(shape.key)), rng, i, shakes=i % 3 != 1)
            kills.update(out.kills)
            total.update({"rows": out.rows, "kept": len(out.kept), "missed": out.missed})
            total.update({k: v for k, v in out.counts.items() if k in ("lost", "twice", "foreign", "changed")})
            if out.failure:
                failed.append(r.work)
                print(f"FAILED store round {i} ({shape}, state there {state_there}): {out.failure}\n  kept in {r.work}", flush=True)
            else:
                r.remove()
    finally:
        store.stop()
    print(f"kill-loop --s3: rounds {args.rounds} rows {total['rows']} kills {sum(kills.values())} ("
          + ", ".join(f"{s or 'state at the store'} {n}" for s, n in sorted(kills.items())) + f") of the store {store.kills} ({store.undone} while it completed an upload) probes left by processes that had begun no run {store.probes} kept {total['kept']} lost {total['lost']} "
          f"twice {total['twice']} foreign {total['foreign']} changed {total['changed']} failed {len(failed)} seed {args.seed} commit {commit} "
          f"seconds {time.monotonic() - began:.0f}", flush=True)
    return 1 if failed or not store.kills else 0
