#!/usr/bin/env python3
"""Calls per second of `wallfacer fuzz` beside a raw client and beside mcp-wallfacer 0.8.1, on `echo` of server-everything.

Both fuzzers start servers, list tools and report besides calling. So each is run for few and for many calls, and what is
compared is the further calls by the further time: the rate of a long run. The whole time of the long run is printed too.
Rounds are interleaved, and ratios taken round by round, because machines are noisy.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

IN_FLIGHT = 64
ROUNDS = 3
# Long enough that both are far beyond their first rounds.
OURS = (20_000, 220_000)
PEER = (1_000, 11_000)
RAW = 100_000
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
        ours, ours_whole = marginal(OURS, lambda calls: ours_time(options.wallfacer.resolve(), server, calls))
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


def ours_time(program, server, calls):
    return timed(
        [program, "fuzz", "--mode", "conform", "--include", "echo", "--iterations", str(calls), "--seed", "1",
         "--workers", "1", "--in-flight", str(IN_FLIGHT), "--sandbox", "off", "--", *server]
    )


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
