"""Shows that the oracle sees what it is there to see: a destination is made by hand, one fault is planted, and the report
must have that fault under its name. A destination without a fault must be clean."""

import base64
import json
import os
import shutil
import sys
import tempfile

import digest
import judge
import source
import truth

SEED, ROWS, FILES = 5, 400, 4
RUN = "20261130t013000z7f3a9c1e"
OTHER = "20261130t013001z00000000"


def write_csv(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(",".join(truth.NAMES) + "\n")
        f.writelines(source.csv_record(row, 0) + "\n" for row in rows)


def write_ndjson(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as f:
        for row in rows:
            pairs = ((n, "null" if v is None else v) for n, v in zip(truth.NAMES, row))
            f.write("{" + ",".join(f'"{n}":{json_text(v)}' for n, v in pairs) + "}\n")


def json_text(value):
    if value == "null" or isinstance(value, (bool, int, float, truth.Decimal)):
        return source.text_of(value)
    return json.dumps(str(value))


def write_lines(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.writelines(row + "\n" for row in rows)


def write_parquet(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = [pa.array(list(column), type_) for column, type_ in zip(zip(*rows), truth.arrow_schema().types)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=truth.arrow_schema()), path)


def write_rejects(path, rows):
    with open(path, "w", encoding="utf-8") as f:
        for file, line, raw in rows:
            data = raw.encode("utf-8", "surrogateescape")
            base64_ = base64.b64encode(data).decode() if data.decode("utf-8", "replace") != raw else None
            f.write(json.dumps({"file": f"/in/{file}", "line": line, "reason": "why", "raw": None if base64_ else raw, "raw_base64": base64_}) + "\n")


WRITERS = {"csv": write_csv, "ndjson": write_ndjson, "txt": write_lines, "parquet": write_parquet, "rejects.ndjson": write_rejects}


class World:
    """A destination of two artifacts and a manifest. Faults are planted in its rows before seal, in its files after."""

    def __init__(self, root, ext, what):
        self.dest, self.ext, self.what = os.path.join(root, "out"), ext, what
        os.makedirs(os.path.join(self.dest, judge.HIDDEN))
        with open(os.path.join(self.dest, judge.HIDDEN, "id"), "w") as f:
            f.write("0" * 32 + "\n")
        rows = [what.expected(f, r) for f, n in enumerate(what.layout) for r in range(n) if what.marks(f)[r] == 0]
        self.parts = [rows[:150], rows[150:]] if len(rows) > 150 else [rows[:3], rows[3:]]

    def name(self, part):
        return f"sub{part}-{RUN}-000001.{self.ext}"

    def path(self, name):
        return os.path.join(self.dest, name)

    def seal(self):
        artifacts = []
        for part, rows in enumerate(self.parts):
            at = self.path(self.name(part))
            WRITERS[self.ext](at, rows)
            artifacts.append({"name": self.name(part), "rows": len(rows), "bytes": os.path.getsize(at), "digest": digest.of_file(at)})
        self.manifest = {"clinkctl_manifest": 1, "outcome": "done", "run": RUN, "rows": sum(a["rows"] for a in artifacts),
                         "bytes": sum(a["bytes"] for a in artifacts), "artifacts": artifacts}
        if self.what.refused:
            self.manifest["rejected"] = self.what.refused
        self.write_manifest()

    def write_manifest(self):
        with open(self.path(f"_manifest-{RUN}.json"), "w") as f:
            json.dump(self.manifest, f)

    def put_aside(self, k, change):
        """Changes what is said of a record that was put aside."""
        self.parts[0][k] = tuple(c(v) for c, v in zip(change, self.parts[0][k]))

    def bad_row(self):
        """A record that must be refused, among the good ones, as if it were a row of its identity."""
        file, row = next((f, r) for f, lines in enumerate(self.what.lines) for r in lines)
        self.parts[0].append(truth.values(SEED, file, row))

    def good_row(self):
        """A good record, among those that are put aside."""
        row = next(r for r in range(self.what.layout[0]) if not truth.is_bad(SEED, 0, r))
        self.parts[0].append(("part-000.csv", 2 + row, source.record("csv", SEED, 0, row, True)))

    def other_value(self, k):
        row = self.parts[1][k]
        self.parts[1][k] = row + "." if self.ext == "txt" else row[:7] + ("another note",)

    def stranger(self):
        row = truth.line(SEED + 1, 0, 0) if self.ext == "txt" else truth.values(SEED + 1, 0, 0)
        self.parts[0].append(row)

    def beyond(self):
        row = truth.line(SEED, 1, 10**6) if self.ext == "txt" else truth.values(SEED, 1, 10**6)
        self.parts[0].append(row)

    def cut(self):
        at = self.path(self.name(0))
        os.truncate(at, os.path.getsize(at) - 3)

    def change_manifest(self, change):
        change(self.manifest)
        self.write_manifest()

    def put(self, name, text=""):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as f:
            f.write(text)


def wrong_digest(manifest):
    manifest["artifacts"][0]["digest"] = "xxh128:" + "0" * 32


# name, what is done before the files are written, what after, the counts that must be seen
FAULTS = [
    ("nothing", None, None, {}),
    ("a lost row", lambda w: w.parts[1].pop(7), None, {"lost": 1}),
    ("a row twice, in one file", lambda w: w.parts[0].append(w.parts[0][3]), None, {"twice": 1}),
    ("a row twice, in two files", lambda w: w.parts[1].append(w.parts[0][0]), None, {"twice": 1}),
    ("a row three times", lambda w: w.parts[1].extend(w.parts[0][:1] * 2), None, {"twice": 2}),
    ("a row of another seed", lambda w: w.stranger(), None, {"foreign": 1}),
    ("a row beyond the source", lambda w: w.beyond(), None, {"foreign": 1}),
    ("a changed value", lambda w: w.other_value(9), None, {"changed": 1}),
    ("a file that is in no manifest", None, lambda w: w.put(f"sub2-{RUN}-000001.{w.ext}"), {"faults": 1}),
    ("a file in a folder that is in no manifest", None, lambda w: w.put(f"deep/er.{w.ext}"), {"faults": 1}),
    ("a truncated file", None, lambda w: w.cut(), {"faults": None}),
    ("a file that is gone", None, lambda w: os.remove(w.path(w.name(0))), {"faults": 1, "lost": 150}),
    ("a wrong digest", None, lambda w: w.change_manifest(wrong_digest), {"faults": 1}),
    ("a wrong count of rows", None, lambda w: w.change_manifest(lambda m: m["artifacts"][0].update(rows=149)), {"faults": 2}),
    ("a wrong size", None, lambda w: w.change_manifest(lambda m: m["artifacts"][0].update(bytes=1)), {"faults": 2}),
    ("an outcome that is not done", None, lambda w: w.change_manifest(lambda m: m.update(outcome="partial")), {"faults": 1}),
    ("an artifact of another run", None, lambda w: w.change_manifest(lambda m: m["artifacts"][0].update(name=f"sub0-{OTHER}-000001.{w.ext}")),
     {"faults": None, "lost": 150}),
    ("no manifest", None, lambda w: os.remove(w.path(f"_manifest-{RUN}.json")), {"faults": 3, "lost": ROWS}),
    ("two manifests", None, lambda w: shutil.copy(w.path(f"_manifest-{RUN}.json"), w.path(f"_manifest-{OTHER}.json")), {"faults": None}),
    ("a manifest that is none", None, lambda w: w.put(f"_manifest-{RUN}.json", "{"), {"faults": 3, "lost": ROWS}),
    ("something staged is left", None, lambda w: w.put(f".clinkctl/{RUN}/sub0"), {"faults": 1}),
    ("a temporary note is left", None, lambda w: w.put(".clinkctl/tmp-id-00"), {"faults": 1}),
    ("a probe of a run that was begun is left", None, lambda w: w.put(f".clinkctl/probe-{RUN}/old"), {"faults": 1}),
    ("no id", None, lambda w: os.remove(w.path(".clinkctl/id")), {"faults": 1}),
]


SAME = lambda v: v
# The same of records that are put aside: whether the destination is the one for them comes first.
BAD_FAULTS = [
    (True, "nothing", None, None, {}),
    (False, "nothing", None, None, {}),
    (True, "a lost record", lambda w: w.parts[1].pop(0), None, {"lost": 1}),
    (True, "a record twice", lambda w: w.parts[0].append(w.parts[1][0]), None, {"twice": 1}),
    (True, "another text", lambda w: w.put_aside(1, (SAME, SAME, lambda raw: raw + " ")), None, {"changed": 1}),
    (True, "another line", lambda w: w.put_aside(1, (SAME, lambda line: line + 1, SAME)), None, {"changed": 1}),
    (True, "another file", lambda w: w.put_aside(1, (lambda file: "part-009.csv", SAME, SAME)), None, {"changed": 1}),
    (True, "a good record is put aside", lambda w: w.good_row(), None, {"foreign": 1}),
    (True, "a wrong count of refused records", None, lambda w: w.change_manifest(lambda m: m.update(rejected=1)), {"faults": 1}),
    (False, "a wrong count of refused records", None, lambda w: w.change_manifest(lambda m: m.pop("rejected")), {"faults": 1}),
    (False, "a bad record among the rows", lambda w: w.bad_row(), None, {"foreign": 1}),
    (False, "a lost row", lambda w: w.parts[1].pop(7), None, {"lost": 1}),
]


def plant(root, ext, before, after, what=None):
    format = {"txt": "lines", "ndjson": "ndjson"}.get(ext, "csv")
    what = what or judge.Truth(SEED, ROWS, FILES, format, ext == "txt")
    world = World(root, ext, what)
    if before:
        before(world)
    world.seal()
    if after:
        after(world)
    return judge.judge(world.dest, what)


def check(name, ext, report, want):
    """The counts must be those that are wanted, None being any but 0; of what is not named there is nothing."""
    if None in want.values():
        ok = all(report.counts[k] > 0 if n is None else report.counts[k] >= n for k, n in want.items())
    else:
        ok = dict(+report.counts) == want
    if not ok:
        print(f"NOT SEEN in {ext}: {name}: wanted {want}: {report.line()}\n  " + "\n  ".join(report.said), file=sys.stderr)
    return ok


def copied_is_exact(root):
    """A record that was copied with other bytes for the same values is a changed one."""
    seen = 0
    for row in range(50):
        record = source.record("csv", SEED, 0, row)
        other = source.csv_record(truth.values(SEED, 0, row), 2**64 - 1)
        seen += record != other
    at = os.path.join(root, "x.csv")
    with open(at, "w", encoding="utf-8", newline="") as f:
        f.write(",".join(truth.NAMES) + "\n" + source.csv_record(truth.values(SEED, 0, 0), 0) + "\n")
    report = judge.Report()
    judge.judge_artifact(at, 1, os.path.getsize(at), digest.of_file(at), judge.Truth(SEED, 1, 1, "csv", True), [bytearray(1)], report)
    return seen > 0 and report.counts == {"changed": 1}


def run(extensions):
    failed = planted = 0
    for ext in extensions:
        for name, before, after, want in FAULTS:
            with tempfile.TemporaryDirectory() as root:
                failed += not check(name, ext, plant(root, ext, before, after), want)
                planted += bool(want)
    for rejects, name, before, after, want in BAD_FAULTS:
        with tempfile.TemporaryDirectory() as root:
            ext = "rejects.ndjson" if rejects else "csv"
            report = plant(root, ext, before, after, judge.Truth(SEED, ROWS, FILES, "csv", False, True, rejects))
            failed += not check(name, ext, report, want)
            planted += bool(want)
    with tempfile.TemporaryDirectory() as root:
        planted += 1
        if not copied_is_exact(root):
            failed += 1
            print("NOT SEEN: a copied record that is spelled otherwise", file=sys.stderr)
    print(f"oracle selftest: {planted} faults planted in {', '.join(extensions)}, {failed} not seen")
    return 1 if failed else 0
