"""The binary under test, as people use it: jobs as files, commands, exit codes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
ORACLE = os.path.join(os.path.dirname(HERE), "oracle")
LIMIT = 600  # seconds that any command may take

EXTENSIONS = {"csv": "csv", "ndjson": "ndjson", "lines": "txt", "parquet": "parquet"}
COMPRESSIONS = {"": "", "gzip": ".gz", "zstd": ".zst"}


@dataclass(frozen=True)
class Way:
    """From one format to another."""

    source: str
    sink: str
    copied: bool = False  # records are, unparsed
    packed: str = ""  # how the source's files are compressed
    packs: str = ""  # how the sink's are
    inferred: bool = False  # columns are
    bad: bool = False  # the source has records that must be refused, and they are put aside


FORMATS = {
    "lines": Way("lines", "lines", copied=True),
    "csv": Way("csv", "csv", copied=True),
    "ndjson": Way("ndjson", "ndjson", copied=True),
    "csv-csv": Way("csv", "csv"),
    "csv-ndjson": Way("csv", "ndjson"),
    "csv-parquet": Way("csv", "parquet"),
    "ndjson-csv": Way("ndjson", "csv"),
    "ndjson-ndjson": Way("ndjson", "ndjson"),
    "ndjson-parquet": Way("ndjson", "parquet"),
    "parquet-csv": Way("parquet", "csv"),
    "parquet-ndjson": Way("parquet", "ndjson"),
    "parquet-parquet": Way("parquet", "parquet"),
    "csv.gz-csv.zst": Way("csv", "csv", copied=True, packed="gzip", packs="zstd"),
    "ndjson.zst-parquet": Way("ndjson", "parquet", packed="zstd"),
    "csv-csv.gz-inferred": Way("csv", "csv", packs="gzip", inferred=True),
    "csv-parquet-bad": Way("csv", "parquet", bad=True),
    "ndjson-csv-bad": Way("ndjson", "csv", bad=True),
}


class Failure(Exception):
    """Something is not as it was promised."""


def oracle(*args):
    """Runs the oracle, and gives its exit code and what it printed."""
    done = subprocess.run([sys.executable, ORACLE, *map(str, args)], capture_output=True, text=True)
    if done.returncode not in (0, 1) or done.stderr:
        raise Failure(f"the oracle itself failed: {done.stderr}")
    return done.returncode, done.stdout


def job_text(source, way, sinks, subtasks, checkpoint_rows, rejects):
    """A job's file. sinks are (folder, format); rejects is the folder for records that are refused."""
    text = ["source:", f"  path: {source}/*.{EXTENSIONS[way.source]}{COMPRESSIONS[way.packed]}", f"  format: {way.source}"]
    if way.inferred:
        text.append("  sample_rows: 20000")
    elif not way.copied:
        text.append("  columns:")
        for column in oracle("columns")[1].splitlines():
            name, type_ = column.split(" ")
            text.append(f'    - {{name: {name}, type: "{type_}"}}')
    text.append("sinks:")
    for to, format in sinks:
        text += [f"  - to: {to}", f"    format: {format}"]
        if way.packs and format == way.sink:
            text.append(f"    {format}: {{compression: {way.packs}}}")
    if way.bad:
        text += ["on_bad_row: reject", f"rejects_to: {rejects}", "max_rejects: 1000000000"]
    text += [f"subtasks: {subtasks}", "checkpoint:", f"  rows: {checkpoint_rows}"]
    return "\n".join(text) + "\n"


class Binary:
    """The binary with one place to log to. Its processes see a home of their own, and never the user's state."""

    def __init__(self, path, work):
        self.path, self.work = path, work
        self.log = os.path.join(work, "log")

    def start(self, args, cwd):
        os.makedirs(cwd, exist_ok=True)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("CLINKCTL_", "XDG_", "STATE_")) or k == "CLINKCTL_TEST_BEAT"} | {"HOME": self.work}
        with open(self.log, "a") as log:
            log.write(f"--- {' '.join(args)}\n")
            log.flush()
            return subprocess.Popen([self.path, *args], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def run(self, args, cwd, want=(0,)):
        process = self.start(args, cwd)
        code = finish(process)
        if code not in want:
            raise Failure(f"`clinkctl {' '.join(args)}` exits {code}, and not {' or '.join(map(str, want))}")
        return code


def finish(process):
    try:
        return process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Failure(f"a command took more than {LIMIT} s: {process.args}") from None


def kill(process, sig=signal.SIGKILL):
    """Sends a signal, and gives the exit code: -9 if it was the signal that ended it."""
    try:
        process.send_signal(sig)
    except ProcessLookupError:
        pass
    return finish(process)


class StatusLoop:
    """Runs `status --json` over and over beside everything else. It must always succeed."""

    def __init__(self, binary, state, cwd):
        self.binary, self.args, self.cwd = binary, ["status", "--json", "--state", state], cwd
        self.calls, self.wrong = 0, None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.loop)

    def loop(self):
        env = os.environ | {"HOME": self.binary.work}
        while not self.over.is_set():
            done = subprocess.run([self.binary.path, *self.args], cwd=self.cwd, env=env, capture_output=True, text=True)
            self.calls += 1
            try:
                json.loads(done.stdout)
                bad = done.returncode != 0
            except ValueError:
                bad = True
            if bad:
                self.wrong = f"`status --json` exits {done.returncode}: {done.stdout} {done.stderr}"
                return
            time.sleep(0.003)

    def __enter__(self):
        os.makedirs(self.cwd, exist_ok=True)
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.over.set()
        self.thread.join()
        if self.wrong and exc[0] is None:
            raise Failure(self.wrong)
