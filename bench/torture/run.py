#!/usr/bin/env python3
"""Runs `wallfacer torture` with its default flags on every small flawed server of the tests, and on their correct twins.

    run.py WALLFACER [--repeats 20] [--only NAME,…] [--flawed-only | --twins-only]

Prints for each class how long it took until it was found, and how many runs on its twin said anything. Ends with 1 where a class
was not found within the limit, or a twin was not silent.
"""

import argparse
import json
import pathlib
import re
import socket
import subprocess
import sys
import time

LIMIT = 20.0
TESTS = pathlib.Path(__file__).resolve().parents[2] / "crates/wallfacer-core/tests"
# The tables of the tests are the one list of what is to be found.
TABLES = {"torture.rs": "server.py", "disturbed.rs": "disturbed.py", "sessions.rs": "sessions.py"}
ROW = re.compile(r'\(\s*"([a-z-]+)",\s*"([a-z_]+)",\s*"([^"]+)",?\s*\)')
OVER_HTTP = re.compile(r"FLAWS_OF_CLIENTS: .*?\];", re.S)


def classes():
    for test, server in TABLES.items():
        text = (TESTS / test).read_text()
        clients = OVER_HTTP.search(text)
        for row in ROW.finditer(text):
            among_clients = clients and clients.start() <= row.start() < clients.end()
            yield server, *row.groups(), bool(among_clients) or server == "sessions.py"


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


def run(wallfacer, server, name, fixed, over_http):
    command = ["python3", str(TESTS / "torture" / server), name] + (["--fixed"] if fixed else [])
    flags = ["--sandbox", "require", "--format", "json"]
    if over_http:
        port = free_port()
        command += ["--http", str(port)]
        flags += ["--url", "http://127.0.0.1:%d/mcp" % port]
    events = pathlib.Path("/tmp") / ("torture-events-%d.jsonl" % free_port())
    begun = time.monotonic()
    done = subprocess.run(
        [wallfacer, "torture", *flags, "--events", str(events), "--", *command], capture_output=True, text=True, timeout=600
    )
    took = time.monotonic() - begun
    found = []
    for line in events.read_text().splitlines() if events.exists() else []:
        event = json.loads(line)
        if event.get("event") == "finding_made":
            found.append(event)
    events.unlink(missing_ok=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        sys.exit("%s: no report: %s" % (name, done.stderr[-500:]))
    return report, found, took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wallfacer")
    parser.add_argument("--repeats", type=int, default=20, help="runs on each twin")
    parser.add_argument("--only", default="", help="names, with commas between them")
    parser.add_argument("--flawed-only", action="store_true")
    parser.add_argument("--twins-only", action="store_true")
    how = parser.parse_args()
    wanted = [name for name in how.only.split(",") if name]
    failed = False
    for server, name, kind, message, over_http in classes():
        if wanted and name not in wanted:
            continue
        line = name
        if not how.twins_only:
            report, found, took = run(how.wallfacer, server, name, False, over_http)
            told = [each for each in report["findings"] if each["kind"]["type"] == kind and message in each["message"]]
            ids = [each["id"] for each in told]
            moments = [event["at_ms"] for event in found if event["id"] in ids]
            found_after = min(moments) / 1000 if moments else took
            failed |= not told or found_after > LIMIT
            line += ": %s, %.1f s of %.1f s" % ("found" if told else "NOT FOUND", found_after, took)
        if not how.flawed_only:
            loud = []
            for _ in range(how.repeats):
                report, _, _ = run(how.wallfacer, server, name, True, over_http)
                loud += [each["message"] for each in report["findings"]]
            failed |= bool(loud)
            line += "; twin: %d of %d runs silent %s" % (how.repeats - len(loud), how.repeats, sorted(set(loud)) or "")
        print(line, flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
