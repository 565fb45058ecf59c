"""Runs the binary under test on jobs of one source and several sinks."""

import glob
import json
import os
import shutil
import subprocess

LIMIT = 300  # seconds that a run may take
EXTENSIONS = {"": "", "gzip": ".gz", "zstd": ".zst", "none": ""}


class Failure(Exception):
    """Something is not as it must be."""


class Runner:
    """Runs jobs, each in a folder of its own."""

    def __init__(self, binary, work):
        self.binary, self.work, self.runs = binary, work, 0

    def folder(self):
        self.runs += 1
        at = os.path.join(self.work, f"run{self.runs:03d}")
        os.makedirs(at)
        return at

    def start(self, source, sinks, env=None, **more):
        """Runs a job to its end, and gives the folder, the exit code and what it said. A sink is a format and its options."""
        at = self.folder()
        plan = {"name": "values", "source": source, "on_empty": "write", **more,
                "sinks": [{"to": os.path.join(at, f"out{k}"), "format": f, **({f: options} if options else {})} for k, (f, options) in enumerate(sinks)]}
        with open(os.path.join(at, "job.yaml"), "w", encoding="utf-8") as f:
            json.dump(plan, f)  # JSON is YAML
        done = subprocess.run([self.binary, "run", os.path.join(at, "job.yaml"), "--state", os.path.join(at, "state"), "--progress", "none"],
                              capture_output=True, text=True, timeout=LIMIT, env=os.environ | {"HOME": at} | (env or {}))
        return at, done.returncode, done.stdout + done.stderr

    def run(self, source, sinks, **more):
        """Runs a job that must end well, and gives the files of each sink."""
        at, code, said = self.start(source, sinks, **more)
        if code:
            raise Failure(f"the run in {at} exits {code}: {said[-1500:]}")
        return at, [artifacts(os.path.join(at, f"out{k}")) for k in range(len(sinks))]


def artifacts(folder):
    """The files of a sink, in the order of their rows if there is one subtask."""
    return sorted(p for p in glob.glob(os.path.join(folder, "*")) if not os.path.basename(p).startswith("_"))


def declared(columns):
    return [{"name": c.name, "type": c.type} for c in columns]


def remove(folder):
    shutil.rmtree(folder)
