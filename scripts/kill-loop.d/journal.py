"""Reads journals as docs/protocol.md draws them, `crc SP json LF` a record, to know where an export was when it was killed."""

import json
import os
import re
import time

POLL = 0.00005  # seconds

# The states that a kill can meet, in the order of a run's life.
STATES = ["nothing", "begun", "attempt", "staged", "prepared", "mark", "decided", "half finished", "finished", "manifest", "ended"]
# Those that a kill loop must have met.
REQUIRED = ["staged", "prepared", "decided", "half finished", "manifest"]


def find(state):
    """The journals under a state directory."""
    found = []
    try:
        for job in os.scandir(state):
            if not job.is_dir():
                continue
            for run in os.scandir(job.path):
                at = os.path.join(run.path, "journal")
                if run.is_dir() and not run.name.startswith("aside-") and os.path.exists(at):
                    found.append(at)
    except FileNotFoundError:
        pass  # it is removed or made just now
    return sorted(found)


def lines(at):
    """The whole lines of a journal."""
    try:
        with open(at, "rb") as f:
            data = f.read()
    except FileNotFoundError:
        return []
    return data[: data.rfind(b"\n") + 1].splitlines()


def count(state):
    """The number of whole lines in all journals under a state directory."""
    return sum(len(lines(at)) for at in find(state))


KIND = re.compile(rb'[0-9a-f]{8} \{"at":"[^"]*","([a-z]+)"')


def count_of(state, kind):
    """The number of records of a kind in all journals under a state directory."""
    return sum((m := KIND.match(line)) is not None and m.group(1) == kind.encode() for at in find(state) for line in lines(at))


def wait_for_kind(state, kind, process):
    """Returns when there is a further record of that kind or the process has ended."""
    before, watch, n = count_of(state, kind), Watch(state), 0
    while process.poll() is None:
        if watch.now() != n:
            n = watch.now()
            if count_of(state, kind) > before:
                return
        time.sleep(POLL)


def records(at):
    return [json.loads(text.split(b" ", 1)[1]) for text in lines(at)]


class Watch:
    """Counts a state directory's records as they appear."""

    def __init__(self, state):
        self.state, self.at, self.size, self.n = state, None, -1, 0

    def now(self):
        if self.at is None:
            found = find(self.state)
            if not found:
                return 0
            self.at = found[-1]
        try:
            size = os.stat(self.at).st_size
        except FileNotFoundError:
            return self.n
        if size != self.size:
            self.size, self.n = size, len(lines(self.at))
        return self.n

    def wait(self, n, process):
        """Returns True when there are n records, False when the process has ended before."""
        while self.now() < n:
            if process.poll() is not None:
                return self.now() >= n
            time.sleep(POLL)
        return True


def wait_for_mark(dests, process):
    """Returns when a key mark is there or the process has ended."""
    while not marked(dests) and process.poll() is None:
        time.sleep(POLL)


def staged(dest, run):
    """The files that a run has staged at a destination, as handles name them."""
    try:
        return {f".clinkctl/{run}/{name}" for name in os.listdir(os.path.join(dest, ".clinkctl", run))}
    except FileNotFoundError:
        return set()


def handles(state):
    """The digests of all artifacts that are journaled, by sink and name."""
    return {(h["sink"], h["name"]): h["digest"] for at in find(state) for r in records(at) if "prepared" in r
            for h in r["prepared"].get("handles") or []}


def place(payload):
    """Where an artifact is staged: the file or folder in its run's folder, or the upload."""
    return "/".join(payload["staged"].split("/")[:3]) if "staged" in payload else payload.get("upload")


def marked(dests):
    for dest in dests:
        try:
            if any(name.startswith("key-") for name in os.listdir(os.path.join(dest, ".clinkctl"))):
                return True
        except FileNotFoundError:
            pass
    return False


def state_of(state, dests):
    """The state that an export was in when it was killed, of STATES."""
    found = find(state)
    if not found:
        return "nothing"
    said = {"finished": 0}
    journaled, run = set(), None
    for r in records(found[-1]):
        kind = next(k for k in r if k != "at")
        said[kind] = said.get(kind, 0) + 1
        if kind == "begun":
            run = r["begun"]["run"]
        for h in (r["prepared"].get("handles") or []) if kind == "prepared" else []:
            journaled.add((h["sink"], place(h["payload"])))
    if "ended" in said:
        return "ended"
    if "manifest" in said:
        return "manifest"
    if "decided" in said:
        if said["finished"] == 0:
            return "decided"
        return "half finished" if said["finished"] < len(journaled) else "finished"
    if marked(dests):
        return "mark"
    there = {(i, name) for i, dest in enumerate(dests) for name in staged(dest, run)}
    if there - journaled:
        return "staged"
    return next((k for k in ("prepared", "attempt", "begun") if k in said), "nothing")
