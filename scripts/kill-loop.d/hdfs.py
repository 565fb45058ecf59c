"""Rounds at a real HDFS: the process is killed, and the NameNode and the DataNode too."""

import http.client
import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter

import journal
import server
from product import Failure
from server import ServerRound

SERVICE = os.path.join(server.ROOT, "scripts/services/hdfs")
HIDDEN = ".clinkctl"
USER = "root"
PATIENCE = 30  # seconds for what was started again to answer

# The protocols that clinkctl speaks to HDFS, and the variable of the service that has the address.
PROTOCOLS = {"webhdfs": "CLINKCTL_TEST_WEBHDFS", "hdfs": "CLINKCTL_TEST_HDFS"}

WHOM = [["nn"], ["dn"], ["nn", "dn"]]  # is killed, in turn


class Hdfs:
    """A NameNode and a DataNode. Whatever protocol clinkctl speaks, the loop itself looks over WebHDFS."""

    what, share, spares = "HDFS", 0.75, True

    def __init__(self, work, protocol):
        self.dir, self.protocol = os.path.join(work, "hdfs"), protocol
        text = subprocess.run([SERVICE, "start", self.dir], check=True, capture_output=True, text=True).stdout
        said = dict(word.split("=", 1) for word in text.replace("export", "").split())
        self.address, self.web = said[PROTOCOLS[protocol]], f"http://{said[PROTOCOLS['webhdfs']]}/webhdfs/v1"
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self.kills, self.turn, self.tmps = Counter(), 0, 0

    def sink(self, folder):
        """The lines of a job that name a folder as a sink."""
        return f"to: {self.protocol}://{self.address}{folder}\n    {self.protocol}: {{user: {USER}, timeout: 20s}}\n"

    def kill(self):
        for daemon in WHOM[self.turn % len(WHOM)]:
            subprocess.run([SERVICE, "kill", self.dir, daemon], check=True)
            self.kills[daemon] += 1
        self.turn += 1

    def start(self):
        subprocess.run([SERVICE, "restart", self.dir], check=True)

    def stop(self):
        subprocess.run([SERVICE, "stop", self.dir], check=True)

    def once(self, op, path):
        """What one GET answers; FileNotFoundError where the NameNode says so, another OSError where nothing is known."""
        url = f"{self.web}{urllib.parse.quote(path)}?" + urllib.parse.urlencode({"op": op, "user.name": USER})
        try:
            with self.opener.open(url, timeout=20) as answer:
                return answer.read()
        except urllib.error.HTTPError as e:
            text = e.read().decode(errors="replace")
            raise (FileNotFoundError if e.code == 404 else OSError)(f"{op} {path}: {e.code} {text}") from None
        except http.client.HTTPException as e:
            raise OSError(f"{op} {path}: {e!r}") from None

    def get(self, op, path):
        """once, again and again until HDFS answers."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self.once(op, path)
            except FileNotFoundError:
                raise
            except OSError as e:
                if time.monotonic() > until:
                    raise Failure(f"HDFS does not answer: {e}") from None
                time.sleep(0.2)

    def list(self, folder, get=None):
        """What is in a folder, nothing where it is absent."""
        try:
            return json.loads((get or self.get)("LISTSTATUS", folder))["FileStatuses"]["FileStatus"]
        except FileNotFoundError:
            return []

    def walk(self, folder, below=""):
        """Path below the folder and status of all that is in it. What is named tmp- is left out: it may go while it is listed."""
        for is_ in self.list(f"{folder}/{below}".rstrip("/")):
            name = below + is_["pathSuffix"]
            if name.startswith(f"{HIDDEN}/tmp-"):
                continue
            yield name, is_
            if is_["type"] == "DIRECTORY":
                yield from self.walk(folder, name + "/")


class HdfsRound(ServerRound):
    """A round whose first sink, or both, are folders at HDFS. A local folder has a copy of each, for who can only read such."""

    def __init__(self, *args, **kw):
        self.there = {}  # folder by its copy
        super().__init__(*args, **kw)

    def place(self, i, prefix):
        self.there[self.dests[i]] = f"/kill/{prefix}"
        return self.server.sink(self.there[self.dests[i]])

    def copy(self, content=True):
        """Makes the local copies anew, without content for who asks for names alone."""
        for dest, folder in self.there.items():
            shutil.rmtree(dest, ignore_errors=True)
            os.makedirs(dest)
            for name, is_ in self.server.walk(folder):
                at = os.path.join(dest, name)
                if is_["type"] == "DIRECTORY":
                    os.makedirs(at)
                    continue
                with open(at, "wb") as f:
                    f.write(self.server.get("OPEN", f"{folder}/{name}") if content else b"")

    def state_now(self):
        self.copy(content=False)
        return super().state_now()

    def wait_for_mark(self, process):
        """Asks over and over; no answer is no mark."""
        while process.poll() is None:
            for folder in self.there.values():
                try:
                    if any(is_["pathSuffix"].startswith("key-") for is_ in self.server.list(f"{folder}/{HIDDEN}", self.server.once)):
                        return
                except OSError:
                    time.sleep(0.01)
            if journal.marked(set(self.dests) - set(self.there)):
                return

    def may_end(self, code):
        return code == 3 or code == 1 and not self.begun()

    def snapshot(self):
        for dest in self.there:  # an old copy is not what is visible
            shutil.rmtree(dest, ignore_errors=True)
        return sorted(super().snapshot() + [
            (dest, folder, name, is_["fileId"], is_["length"], is_["modificationTime"])
            for dest, folder in self.there.items() for name, is_ in self.server.walk(folder) if is_["type"] == "FILE" and not name.startswith(f"{HIDDEN}/probe-")])

    def published(self):
        """The copies that are made for this are those that the oracle judges."""
        self.copy()
        return super().published()

    def end(self, rng, out):
        super().end(rng, out)
        for folder in self.there.values():
            hidden = [is_["pathSuffix"] for is_ in self.server.list(f"{folder}/{HIDDEN}")]
            tmps = [name for name in hidden if name.startswith("tmp-")]
            self.server.tmps += len(tmps)
            odd = [name for name in server.odd(hidden) if name not in tmps and not name.startswith("probe-")]  # the oracle judges probes
            if odd:
                raise Failure(f"{odd} are left in {folder}/{HIDDEN}")


def run(args, work, commit, began):
    there = Hdfs(work, args.hdfs)
    total, kills, failed = server.run(args, work, "hdfs", there, lambda i, at, shape: HdfsRound(
        args.binary, at, shape, there, f"round-{i}", local_second=i % 4 == 1))
    print(f"kill-loop --hdfs: rounds {args.rounds} over {args.hdfs} rows {total['rows']} kills {sum(kills.values())} ({server.states(kills)}) "
          f"of the NameNode {there.kills['nn']} of the DataNode {there.kills['dn']} recovered by run {total['run']} by resume {total['resume']}; "
          f"processes that ended well beside it {total['outlived']}; "
          f"left by processes that were killed: probes {total['probes']} tmp folders {there.tmps} " + server.counts(total, failed, args, commit, began), flush=True)
    return 1 if failed or len(there.kills) < 2 else 0
