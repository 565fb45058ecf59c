"""What the benchmarks share."""

import base64
import json
import os
import subprocess
import sys
import time
from datetime import datetime

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MIB = 1 << 20


def run(*args, **kw):
    return subprocess.run(args, check=True, capture_output=True, text=True, **kw).stdout


def timed(args, env, log):
    """Runs a command. Gives wall and CPU seconds, and the peak of its resident memory in bytes."""
    began = time.monotonic()
    with open(log, "wb") as f:
        process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=f, stderr=f, env=env)
        peak = 0
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            try:
                with open(f"/proc/{process.pid}/status") as g:
                    peak = max([int(line.split()[1]) * 1024 for line in g if line.startswith("VmHWM:")] + [peak])
            except FileNotFoundError:
                pass
            time.sleep(0.005)
    wall = time.monotonic() - began
    if status:
        sys.exit(f"{args[0]} fails: {open(log).read()}")
    return wall, usage.ru_utime + usage.ru_stime, peak


def write_source(path, size):
    line = ",".join(f"field {i} of a row that is neither short nor long" for i in range(8))
    with open(path, "w") as f:
        n = i = 0
        while n < size:
            n += f.write(f"{i:012d},{line}\n")
            i += 1


def write_random(path, size):
    """Writes rows of a number and two texts of 60 characters that cannot be compressed but for their alphabet."""
    with open(path, "wb") as f:
        f.write(b"id,a,b\n")
        n = i = 0
        while n < size:
            text = base64.b64encode(os.urandom(90 * 4096))
            n += f.write(b"".join(b"%d,%b,%b\n" % (i + j, text[120 * j : 120 * j + 60], text[120 * j + 60 : 120 * j + 120]) for j in range(4096)))
            i += 4096


def commit_seconds(state, job, handles):
    """Seconds from the decision of a job's only run to the last artifact that is finished, by the journal."""
    token = next(name for name in os.listdir(os.path.join(state, job)) if name != "lock")
    at = {}
    with open(os.path.join(state, job, token, "journal")) as f:
        for line in f:
            record = json.loads(line.split(" ", 1)[1])
            kind = next(k for k in record if k != "at")
            at.setdefault(kind, []).append(datetime.fromisoformat(record["at"].replace("Z", "+00:00")[:26].rstrip("+0:") + "+00:00"))
    assert len(at["finished"]) == handles
    return (at["finished"][-1] - at["decided"][0]).total_seconds()
