"""Rounds at a real object store: the process is killed, and the store too."""

import os
import shutil
import subprocess

import server
from product import Failure
from server import ServerRound

SERVICE = os.path.join(server.ROOT, "scripts/services/versitygw")
BUCKET = "kill"
BEAT = "200ms"  # of a state at the store
PART = 5 << 20


class Store:
    """versitygw on a folder. It has no state but its files: objects are files under their keys, and uploads are folders."""

    what, share, spares = "the store", 0.5, False

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


class StoreRound(ServerRound):
    """A round whose first sink, or both, are prefixes at the store, and whose state may be there too."""

    def __init__(self, binary_path, work, shape, store, name, local_second, state_there):
        self.store, self.state_there = store, state_there
        super().__init__(binary_path, work, shape, store, name, local_second)

    def place(self, i, prefix):
        self.dests[i] = self.store.folder(prefix)
        return f"to: s3://{BUCKET}/{prefix}\n    s3: {{part_size: {PART >> 20}MiB, timeout: 20s}}\n"

    def more(self):
        if self.state_there:
            self.state = "sink"
        return "state: sink\n" * self.state_there + "commit_wait: 5s\n"

    def resume_args(self, rng):
        if self.state_there:
            return ["resume", self.job, "--subtasks", str(rng.randint(1, 3))]
        return super().resume_args(rng)

    def visible(self):
        return sorted(name for dest in self.dests for name in os.listdir(dest))

    def begun(self):
        if not self.state_there:
            return super().begun()
        return os.path.isdir(os.path.join(self.dests[0], ".clinkctl", "state", "job", "keys"))

    def end(self, rng, out):
        if self.state_there:
            self.finish_there(out)
        else:
            super().end(rng, out)
        if left := self.store.uploads():
            raise Failure(f"uploads are left: {left[:5]}")
        for dest in self.dests:
            hidden = os.path.join(dest, ".clinkctl")
            if os.path.isdir(hidden) and self.store.dir in dest and (odd := server.odd(os.listdir(hidden))):
                raise Failure(f"{odd} are left in {hidden}")

    def finish_there(self, out):
        """What rounds.finish does, with a state at the store."""
        self.binary.run(["resume", self.job], self.elsewhere())
        before = self.visible()
        self.binary.run(self.run_args(), self.elsewhere())
        if self.visible() != before:
            raise Failure("`run` after the end has changed the destination")
        shutil.move(os.path.join(self.dests[0], ".clinkctl", "state"), os.path.join(self.work, "state-there"))
        code, out.counts = self.judge()
        if code:
            raise Failure("the oracle: " + "; ".join(out.counts["findings"][:8]))


def run(args, work, commit, began):
    store = Store(work)
    total, kills, failed = server.run(args, work, "store", store, lambda i, at, shape: StoreRound(
        args.binary, at, shape, store, f"round-{i}", local_second=i % 4 == 1, state_there=i % 3 == 2))
    print(f"kill-loop --s3: rounds {args.rounds} rows {total['rows']} kills {sum(kills.values())} ({server.states(kills)}) of the store {store.kills} "
          f"({store.undone} while it completed an upload) probes left by processes that had begun no run {store.probes} "
          + server.counts(total, failed, args, commit, began), flush=True)
    return 1 if failed or not store.kills else 0
