"""Counts the test cases of a `bazel test`, cached ones too, from its build events and test logs.

usage: cases.py EVENTS STATUS   (a file of --build_event_json_file, bazel's exit status)
"""

import json
import re
import sys
import urllib.parse

# doctest's summary, and the line that any other test may print.
SUMMARIES = (
    re.compile(
        r"^\[doctest\] test cases: +\d+ \| +(?P<passed>\d+) passed \| +(?P<failed>\d+) failed"
        r" \| +(?P<skipped>\d+) skipped", re.M),
    re.compile(
        r"^cases: (?P<passed>\d+) passed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?$", re.M),
)


def count(log, passed):
    """Cases passed, failed and skipped in a log. A test that says nothing is one case."""
    found = [match for pattern in SUMMARIES for match in pattern.finditer(log)]
    total = [sum(int(match[key] or 0) for match in found) for key in ("passed", "failed", "skipped")]
    if passed and not found:
        total[0] = 1
    if not passed and not total[1]:
        total[1] = 1  # it crashed, hung, or failed outside its cases
    return total


def read(uri):
    try:
        with open(urllib.parse.unquote(urllib.parse.urlparse(uri).path), errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def results(events):
    """Per test, its status and its logs: one for each run and shard, of the last attempt."""
    statuses, logs, tests = {}, {}, set()
    for event in map(json.loads, events):
        kind, key = next(iter(event["id"].items()))
        label = key.get("label") if isinstance(key, dict) else None
        if kind == "targetConfigured" and "testSize" in event.get("configured", {}):
            tests.add(label)
        elif kind == "targetCompleted" and label in tests and not event.get("completed", {}).get("success"):
            statuses[label] = "NOT BUILT"
        elif kind == "testResult":
            result = event["testResult"]
            uris = [out["uri"] for out in result.get("testActionOutput", []) if out["name"] == "test.log"]
            logs.setdefault(label, {})[key.get("run"), key.get("shard")] = (
                result["status"], uris[0] if uris else "")
        elif kind == "testSummary":
            statuses[label] = event["testSummary"]["overallStatus"]
    return {label: (status, logs.get(label, {}).values()) for label, status in sorted(statuses.items())}


def main(path, bazel_status):
    total = [0, 0, 0]
    with open(path) as events:
        for label, (status, logs) in results(events).items():
            cases = [0, 0, 0]
            for log_status, uri in logs:
                cases = [a + b for a, b in zip(cases, count(read(uri), log_status in ("PASSED", "FLAKY")))]
            if status not in ("PASSED", "FLAKY") and not cases[1]:
                cases[1] = 1
            print(f"{label:60} {status.lower():10} {cases[0]:5} passed {cases[1]:3} failed")
            total = [a + b for a, b in zip(total, cases)]
    if bazel_status and not total[1]:
        total[1] = 1
        print(f"bazel failed with status {bazel_status}")
    skipped = f", {total[2]} skipped" if total[2] else ""
    print(f"{total[0]} passed, {total[1]} failed{skipped}")
    return 1 if total[1] else 0


sys.exit(main(sys.argv[1], int(sys.argv[2])))
