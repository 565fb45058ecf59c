"""Judges a destination: whether its visible files hold each row of the truth exactly once with its values, and whether they
are what their manifest says."""

import json
import os
import re
import struct
from collections import Counter

import artifact
import digest
import source
import truth

HIDDEN = ".clinkctl"
TOKEN = r"\d{8}t\d{6}z[0-9a-f]{8}"
ARTIFACT = re.compile(rf"sub(0|[1-9]\d*)-({TOKEN})-\d{{6,}}\.[a-z.]+")
MANIFEST = re.compile(rf"_manifest-({TOKEN})\.json")
PROBE = re.compile(rf"probe-({TOKEN})")
KEY_MARK = re.compile(r"key-[0-9a-f]{32}\.json")
ELSEWHERE = 255  # marks a row that is not to be there
KINDS = ("lost", "twice", "foreign", "changed", "faults")
SHOWN = 20  # findings of a kind that are printed in words
DOUBLE = struct.Struct("<d").pack


class Report:
    """Counts of findings, and the first of each kind in words."""

    def __init__(self):
        self.rows = self.refused = 0
        self.probes = 0  # folders of probes whose run was never begun
        self.counts = Counter()
        self.said = []

    def add(self, kind, text):
        self.counts[kind] += 1
        if self.counts[kind] <= SHOWN:
            self.said.append(f"{kind}: {text}")

    def count(self, kind, n, text):
        if n:
            self.counts[kind] += n
            self.said.append(f"{kind}: {text}")

    def clean(self):
        return not any(self.counts.values())

    def merge(self, other):
        self.rows += other.rows
        self.probes += other.probes
        self.counts += other.counts
        self.said += other.said

    def line(self):
        return f"rows {self.rows} " + " ".join(f"{kind} {self.counts[kind]}" for kind in KINDS)

    def as_dict(self):
        return {"rows": self.rows, "refused": self.refused, "probes": self.probes, **{kind: self.counts[kind] for kind in KINDS}, "findings": self.said}


class Truth:
    """What a destination was to hold. bad: the source has records that must be refused, which are not to be there; rejects:
    these, and no others, are."""

    def __init__(self, seed, rows, files, format, copied, bad=False, rejects=False):
        self.seed, self.format, self.copied, self.bad, self.rejects = seed, format, copied, bad, rejects
        self.layout = truth.layout(rows, files)
        self.lines = [source.bad_lines(format, seed, file, n) if bad else {} for file, n in enumerate(self.layout)]
        self.refused = sum(map(len, self.lines))

    def marks(self, file):
        """A mark for each row: 0 is one that is to be there."""
        if self.rejects:
            marks = bytearray([ELSEWHERE]) * self.layout[file]
            for row in self.lines[file]:
                marks[row] = 0
            return marks
        marks = bytearray(self.layout[file])
        for row in self.lines[file]:
            marks[row] = ELSEWHERE
        return marks

    def expected(self, file, row):
        if self.rejects:
            return os.path.basename(source.path("", self.format, file)), self.lines[file][row], source.record(self.format, self.seed, file, row, True)
        if self.copied:
            return source.record(self.format, self.seed, file, row)
        return truth.values(self.seed, file, row)

    def rows(self):
        return self.refused if self.rejects else sum(self.layout) - self.refused

    def identity(self, got):
        """The id that a record carries."""
        if self.rejects:
            got = got[2]
        elif not self.copied:
            return got[0]
        if self.format == "lines":
            return got.split(" ", 1)[0]
        found = re.search(r"s\d+\.f\d+\.r\d+", got)
        return found.group() if found else None


def same(expected, got):
    if expected != got:
        return False
    # -0.0 equals 0.0, and is another value
    return not isinstance(got, tuple) or len(got) < len(truth.NAMES) or got[5] != 0 or DOUBLE(got[5]) == DOUBLE(expected[5])


def judge(dest, truth_, manifests=1, orphans=False):
    """Judges one destination, which must have as many complete exports of the truth as manifests."""
    report = Report()
    visible, names = [], {}
    for folder, folders, files in os.walk(dest):
        if folder == dest and HIDDEN in folders:
            folders.remove(HIDDEN)
        visible += [os.path.relpath(os.path.join(folder, f), dest) for f in files]
    for name in sorted(visible):
        if found := MANIFEST.fullmatch(name):
            names[name] = found.group(1)
    if len(names) != manifests:
        report.add("faults", f"{dest} has {len(names)} manifests, and should have {manifests}")
    claimed = set(names)
    for name, run in names.items():
        claimed |= judge_run(dest, name, run, truth_, report)
    for name in sorted(set(visible) - claimed):
        report.add("faults", f"{name} is visible and in no manifest")
    if not names:  # nobody vouches for anything: all rows are missing
        report.count("lost", truth_.rows(), "all rows: there is no manifest")
    hidden(dest, orphans, names.values(), report)
    return report


def hidden(dest, orphans, runs, report):
    """Looks for what is left of staging. The probe of a process that was killed before its run was begun is counted and is no
    fault: it is empty but for its token, and no journal speaks of it."""
    at = os.path.join(dest, HIDDEN)
    left = sorted(os.listdir(at)) if os.path.isdir(at) else []
    if "id" not in left:
        report.add("faults", f"{at} has no id")
    for name in left:
        if name == "id" or KEY_MARK.fullmatch(name) or orphans:
            continue
        if (found := PROBE.fullmatch(name)) and found.group(1) not in runs:
            report.probes += 1
            continue
        report.add("faults", f"{at}/{name} is left behind")


def key_marks(dest):
    at = os.path.join(dest, HIDDEN)
    return sum(1 for name in os.listdir(at) if KEY_MARK.fullmatch(name)) if os.path.isdir(at) else 0


def judge_run(dest, name, run, truth_, report):
    """Judges one manifest and its artifacts, and gives the names that it vouches for."""
    try:
        with open(os.path.join(dest, name), encoding="utf-8") as f:
            manifest = json.load(f)
        listed = [(a["name"], a["rows"], a["bytes"], a["digest"]) for a in manifest["artifacts"]]
        head = {k: manifest[k] for k in ("outcome", "run", "rows", "bytes")} | {"rejected": manifest.get("rejected", 0)}
    except (ValueError, KeyError, TypeError) as error:
        report.add("faults", f"{name} is no manifest: {error!r}")
        report.count("lost", truth_.rows(), f"all rows: {name} vouches for none")
        return set()
    for key, want in (("outcome", "done"), ("run", run), ("rows", sum(a[1] for a in listed)), ("bytes", sum(a[2] for a in listed)), ("rejected", truth_.refused)):
        if head[key] != want:
            report.add("faults", f"{name}: {key} is {head[key]!r}, and should be {want!r}")
    if len({a[0] for a in listed}) != len(listed):
        report.add("faults", f"{name} names an artifact twice")
    seen = [truth_.marks(file) for file in range(len(truth_.layout))]
    for artifact_, rows, size, sum_ in listed:
        found = ARTIFACT.fullmatch(artifact_)
        if not found or found.group(2) != run:
            report.add("faults", f"{name}: {artifact_} is no name of an artifact of run {run}")
        judge_artifact(os.path.join(dest, artifact_), rows, size, sum_, truth_, seen, report)
    for file, marks in enumerate(seen):
        lost = marks.count(0)
        first = next((row for row, n in enumerate(marks) if n == 0), None)
        report.count("lost", lost, f"{lost} rows of file {file} are not in {name}, the first is row {first}")
        report.count("twice", sum(n - 1 for n in marks if 1 < n < ELSEWHERE), f"rows of file {file} are more than once in {name}")
    return {a[0] for a in listed}


def judge_artifact(path, rows, size, sum_, truth_, seen, report):
    try:
        has = os.path.getsize(path)
    except OSError as error:
        report.add("faults", f"{path} is in the manifest: {error}")
        return
    if has != size:
        report.add("faults", f"{path} has {has} bytes, and the manifest says {size}")
    if (is_ := digest.of_file(path)) != sum_:
        report.add("faults", f"{path} has the digest {is_}, and the manifest says {sum_}")
    read = 0
    try:
        for got in artifact.rows_of(path, truth_.copied):
            read += 1
            judge_row(path, got, truth_, seen, report)
    except (artifact.Malformed, UnicodeDecodeError) as error:
        report.add("faults", f"{path}: {error}")
    report.rows += read
    if read != rows:
        report.add("faults", f"{path} has {read} rows, and the manifest says {rows}")


def judge_row(path, got, truth_, seen, report):
    identity = truth.parse_identity(truth_.identity(got))
    if identity is None or identity[0] != truth_.seed or identity[1] >= len(seen) or identity[2] >= len(seen[identity[1]]):
        report.add("foreign", f"{path}: {got!r}")
        return
    _, file, row = identity
    if seen[file][row] == ELSEWHERE:
        report.add("foreign", f"{path}: {got!r} is {'no' if truth_.rejects else 'a'} record that must be refused")
        return
    seen[file][row] = min(seen[file][row] + 1, ELSEWHERE - 1)
    expected = truth_.expected(file, row)
    if not same(expected, got):
        report.add("changed", f"{path}: {got!r} and not {expected!r}")
