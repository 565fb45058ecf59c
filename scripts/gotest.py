"""Reads `go test -json` and prints what a person wants to see: the output of what failed, the seconds of what was slow,
and the counts. Fails on a failure, on a skipped test, and where no test ran."""
import json
import sys

SLOW = 5.0  # seconds


def main() -> int:
    output: dict[tuple[str, str], list[str]] = {}
    counts = {"pass": 0, "fail": 0, "skip": 0}
    bad: list[str] = []
    for line in sys.stdin:
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            print(line, end="")
            bad.append("go test itself")
            continue
        package, test = event.get("Package", event.get("ImportPath", "")), event.get("Test", "")
        action = event["Action"]
        if action in ("output", "build-output"):
            output.setdefault((package, test), []).append(event["Output"])
        elif action in counts:
            if test:
                counts[action] += 1
                if event.get("Elapsed", 0) >= SLOW and "/" not in test:
                    print(f"{event['Elapsed']:7.1f} s  {package} {test}")
            if action == "fail" or action == "skip" and test:
                bad.append(f"{action}: {package} {test}")
                sys.stdout.write("".join(output.get((package, test), [])))
        elif action == "build-fail":
            bad.append(f"build: {package}")
            sys.stdout.write("".join(output.get((package, test), [])))
    for line in bad:
        print(line)
    print(f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped")
    return 1 if bad or not counts["pass"] else 0


if __name__ == "__main__":
    sys.exit(main())
