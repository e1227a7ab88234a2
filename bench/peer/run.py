#!/usr/bin/env python3
"""Calls per second of `wallfacer fuzz` beside a raw client and beside mcp-wallfacer 0.8.1, on `echo` of server-everything.

Both fuzzers start servers, list tools and report besides calling, and how long a start takes depends on what the machine has
in memory. So of ours the time of the long rounds is taken, which it writes down as they happen; of the peer, which tells
nothing, the further calls of a long run by its further time. The whole time of the long run is printed too. Rounds are
interleaved, and ratios taken round by round, because machines are noisy.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

IN_FLIGHT = 64
ROUNDS = 5
# Long enough that both are far beyond their first rounds.
OURS = 300_000
PEER = (100, 30_000)
# Rounds of fewer cases are spent on starting servers.
LONG_ROUND = 3_000
RAW = 200_000
ANSWER = b'"result"'


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--wallfacer", default="target/release/wallfacer", type=pathlib.Path)
    options.add_argument("--peer", type=pathlib.Path, help="its binary; left out where this is not given")
    options.add_argument("--everything", required=True, type=pathlib.Path, help="dist/index.js of server-everything")
    options = options.parse_args()
    server = ["node", str(options.everything.resolve()), "stdio"]
    rows = []
    for number in range(ROUNDS):
        raw = raw_rate(server)
        ours, ours_whole = ours_rate(options.wallfacer.resolve(), server)
        row = {"raw": raw, "ours": ours, "ours, all its time": ours_whole}
        if options.peer:
            peer, peer_whole = marginal(PEER, lambda calls: peer_time(options.peer.resolve(), server, calls))
            row |= {"peer": peer, "peer, all its time": peer_whole}
        rows.append(row)
        print(f"round {number + 1}: " + ", ".join(f"{name} {rate:,.0f}/s" for name, rate in row.items()), flush=True)
    print(f"ours of raw:  {median(rows, 'ours', 'raw'):.2f}  (wanted: at least 0.9)")
    if options.peer:
        print(f"ours of peer: {median(rows, 'ours', 'peer'):.2f}  (wanted: at least 2.5)")


def median(rows, above, below):
    return statistics.median(row[above] / row[below] for row in rows)


def marginal(counts, run):
    """The rate of the further calls, and that of the long run as a whole."""
    few, many = counts
    short, long = run(few), run(many)
    return (many - few) / (long - short), many / long


def ours_rate(program, server):
    """The rate within the long rounds, and that of the run as a whole."""
    with tempfile.TemporaryDirectory() as folder:
        events = pathlib.Path(folder, "events.jsonl")
        took = timed(
            [program, "fuzz", "--mode", "conform", "--include", "echo", "--iterations", str(OURS), "--seed", "1",
             "--workers", "1", "--in-flight", str(IN_FLIGHT), "--sandbox", "off", "--events", events, "--", *server]
        )
        told = [json.loads(line) for line in events.read_text().splitlines() if line]
    begun = [event for event in told if event["event"] == "round_begun" and event["cases"] >= LONG_ROUND]
    done = [event for event in told if event["event"] == "round_done" and event["phase"] == "random"]
    # From the first long round on, what lies between two rounds included.
    before = max(event["calls"] for event in told if "calls" in event and event["at_ms"] <= begun[0]["at_ms"])
    calls, milliseconds = done[-1]["calls"] - before, done[-1]["at_ms"] - begun[0]["at_ms"]
    return 1_000 * calls / milliseconds, OURS / took


def peer_time(program, server, calls):
    target = f"[target]\nkind = \"stdio\"\ncommand = {server[0]!r}\nargs = {server[1:]!r}\ntimeout_ms = 60000\n"
    arguments = ["fuzz", "--mode", "conform", "--include", "echo", "--iterations", str(calls), "--seed", "1"]
    return timed([program, *arguments], target)


def timed(command, target=None):
    with tempfile.TemporaryDirectory() as folder:
        if target:
            pathlib.Path(folder, "wallfacer.toml").write_text(target)
        began = time.monotonic()
        ran = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
        took = time.monotonic() - began
        if ran.returncode != 0:
            raise SystemExit(f"{command[0]} ended with {ran.returncode}:\n{ran.stdout}\n{ran.stderr}")
        return took


def raw_rate(server):
    """Writes requests and counts lines, and looks at neither."""
    child = subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
    into, out = child.stdin.fileno(), child.stdout.fileno()
    hello = ('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
             '"capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}\n')
    os.write(into, hello.encode())
    while b"\n" not in os.read(out, 65536):
        pass
    os.write(into, b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    call = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}\n'
    sent, answered, rest = 0, 0, b""
    began = time.monotonic()
    while answered < RAW:
        room = min(IN_FLIGHT - (sent - answered), RAW - sent)
        if room:
            os.write(into, "".join(call % (sent + number + 1) for number in range(room)).encode())
            sent += room
        # Without capabilities of ours the server asks nothing, so that every line that holds a result is an answer.
        said = rest + os.read(out, 65536)
        answered += said.count(ANSWER)
        rest = said[1 - len(ANSWER):]
    took = time.monotonic() - began
    child.stdin.close()
    child.wait(10)
    return RAW / took


if __name__ == "__main__":
    main()
