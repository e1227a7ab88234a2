#!/usr/bin/env python3
"""Measures what a minute of `wallfacer check` buys on eleven servers, beside the same minute of an older build.

    run.py [--only NAME,…] [--runs N] [--budget TIME] [--new-only] [--new BINARY] [--old BINARY]

Both builds check each server one after the other, so that they meet the same machine. The table is printed row by row, and
put into README.md as a whole when every server was checked with the default budget by both builds.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "target" / "minute"
OLD_COMMIT = "cbb80d2"
GIT_SERVER = "mcp-server-git==2026.10.19"
# A check ends itself ten seconds after its budget at the latest; what is still there long after that hangs.
PATIENCE = 600
PYTHON = os.path.realpath(sys.executable)
COLUMNS = [
    "server", "build", "calls", "starts", "tools reached", "last tool reached, s", "first finding, s", "last finding, s", "findings",
    "longest time without an event, s", "wall, s", "processor", "others", "whole plan", "exit",
]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", help="names of servers, with commas between them")
    options.add_argument("--runs", default=1, type=int, help="how often each server is checked by each build")
    options.add_argument("--budget", help="another budget than the default")
    options.add_argument("--new-only", action="store_true", help="without the older build")
    options.add_argument("--new", type=pathlib.Path, help="a binary, instead of building this checkout")
    options.add_argument("--old", type=pathlib.Path, help=f"a binary, instead of building {OLD_COMMIT}")
    options = options.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in options.only.split(",") if name]
    unknown = set(wanted) - set(SERVERS)
    if unknown:
        raise SystemExit(f"no server is called {', '.join(sorted(unknown))}; there are {', '.join(SERVERS)}")
    builds = {"new": (options.new or build(ROOT, ROOT / "target")).resolve()}
    if not options.new_only:
        builds = {"old": (options.old or build(old_checkout(), WORK / "build")).resolve(), **builds}
    lines = []
    say(lines, f"| {' | '.join(COLUMNS)} |")
    say(lines, "|" + "---|" * len(COLUMNS))
    calls = collections.defaultdict(list)
    for name in wanted or SERVERS:
        for _ in range(options.runs):
            for which, program in builds.items():
                row = check(name, which, program, options.budget)
                calls[name, which].append(row["calls"])
                say(lines, f"| {' | '.join(str(row[column]) for column in COLUMNS)} |")
    if not options.new_only:
        say(lines, "\nCalls, new to old:\n\n| server | ratio |\n|---|---|")
        for name in wanted or SERVERS:
            old, new = (statistics.median(calls[name, which]) for which in ("old", "new"))
            say(lines, f"| {name} | {new / old:.1f} |" if old else f"| {name} | {new:.0f} to none |")
    if not wanted and not options.budget and not options.new_only:
        write_down(lines)


def say(lines, text):
    print(text, flush=True)
    lines.append(text)


def write_down(lines):
    readme = HERE / "README.md"
    begin, end = "<!-- table -->", "<!-- end of table -->"
    before, rest = readme.read_text().split(begin)
    readme.write_text("".join([before, begin, "\n", "\n".join(lines), "\n", end, rest.split(end)[1]]))


def build(checkout, target):
    subprocess.run(["cargo", "build", "--release", "--quiet", "--target-dir", target], cwd=checkout, check=True)
    return target / "release" / "wallfacer"


def old_checkout():
    place = WORK / "old"
    if not place.exists():
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", place, OLD_COMMIT], cwd=ROOT, check=True)
    return place


# The servers: each gives a context in which it can be checked, with the words that `check` is told.


def real(*path):
    servers = pathlib.Path(os.environ.get("WALLFACER_REAL_SERVERS", ROOT / "target" / "real-servers")).resolve()
    if not servers.joinpath(*path).exists():
        raise SystemExit(f"{servers} has no {'/'.join(path)}; run scripts/real-servers, or set WALLFACER_REAL_SERVERS")
    return str(servers.joinpath(*path))


def package(name):
    return ["node", real("node_modules", "@modelcontextprotocol", name, "dist", "index.js")]


def own(name, *arguments):
    return lambda scene: contextlib.nullcontext(["--", PYTHON, str(HERE / "servers" / name), *arguments])


def everything(scene):
    return contextlib.nullcontext(["--", *package("server-everything"), "stdio"])


def everything_started_at_a_url(scene):
    port = free_port()
    command = ["--env", f"PORT={port}", "--url", f"http://127.0.0.1:{port}/mcp"]
    return contextlib.nullcontext([*command, "--", *package("server-everything"), "streamableHttp"])


@contextlib.contextmanager
def everything_at_a_url(scene):
    port = free_port()
    command = [*package("server-everything"), "streamableHttp"]
    environment = {**os.environ, "PORT": str(port)}
    with open(scene / "server.log", "w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        wait_for(port)
        yield ["--url", f"http://127.0.0.1:{port}/mcp"]
    finally:
        server.kill()
        server.wait()


def filesystem(scene):
    folder = scene / "folder"
    folder.mkdir()
    (folder / "page.txt").write_text("one\ntwo\n")
    return contextlib.nullcontext(["--", *package("server-filesystem"), str(folder)])


def memory(scene):
    return contextlib.nullcontext(["--env", f"MEMORY_FILE_PATH={scene}/memory.jsonl", "--", *package("server-memory")])


def git(scene):
    environment = WORK / "git"
    program = environment / "bin" / "mcp-server-git"
    if not program.exists():
        subprocess.run([PYTHON, "-m", "venv", environment], check=True)
        subprocess.run([environment / "bin" / "pip", "install", "--quiet", GIT_SERVER], check=True)
    repository = scene / "repository"
    repository.mkdir()
    command = ["git", "-C", str(repository), "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    subprocess.run([*command, "init", "--quiet"], check=True)
    (repository / "page.txt").write_text("one\n")
    subprocess.run([*command, "add", "."], check=True)
    subprocess.run([*command, "commit", "--quiet", "-m", "first"], check=True)
    (repository / "page.txt").write_text("two\n")
    return contextlib.nullcontext(["--", str(program), "--repository", str(repository)])


SERVERS = {
    "demo": lambda scene: contextlib.nullcontext(["--demo"]),
    "everything": everything,
    "everything-http": everything_started_at_a_url,
    "everything-url": everything_at_a_url,
    "filesystem": filesystem,
    "memory": memory,
    "git": git,
    "hundred-tools": own("hundred_tools.py"),
    "starts-in-3s": own("slow_start.py", "3"),
    "starts-in-6s": own("slow_start.py", "6"),
    "two-silent": own("two_silent.py"),
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port):
    for _ in range(300):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise SystemExit(f"nothing listens on port {port} after half a minute")


# One check.


def check(name, which, program, budget):
    scene = WORK / "scenes" / name / which
    shutil.rmtree(scene, ignore_errors=True)
    scene.mkdir(parents=True)
    with SERVERS[name](scene) as target:
        tools = count_tools(program, scene, target)
        options = ["--format", "json", "--events", str(scene / "events.jsonl")]
        options += ["--budget", budget] if budget else []
        measured = measure([str(program), "check", *options, *target], scene)
    try:
        document = json.loads((scene / "report.json").read_text())
    except ValueError:
        run = {"lives": 0, "out_of_time": True}
        document = {"run": run, "summary": {"calls": 0}, "tools": {}, "findings": [], "flaky": []}
    return row(name, which, tools, document, read_events(scene), *measured)


def count_tools(program, scene, target):
    """How many tools the server has; `check` tells only of those that it called."""
    command = [str(program), "doctor", "--format", "json", *target]
    done = subprocess.run(command, cwd=scene, capture_output=True, text=True)
    try:
        return len(json.loads(done.stdout)["catalogue"]["tools"]["entries"])
    except (ValueError, KeyError):
        return "?"


def measure(command, scene):
    """Wall seconds, processor seconds of it and of all its children, those of everybody else, and the exit code."""
    began, before = time.monotonic(), busy_seconds()
    with open(scene / "report.json", "w") as report, open(scene / "errors.txt", "w") as errors:
        child = subprocess.Popen(command, cwd=scene, stdout=report, stderr=errors)
        while True:
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
            if ended:
                break
            if time.monotonic() - began > PATIENCE:
                child.kill()
            time.sleep(0.02)
    took, used = time.monotonic() - began, usage.ru_utime + usage.ru_stime
    child.returncode = os.waitstatus_to_exitcode(status)
    return took, used, max(busy_seconds() - before - used, 0.0), child.returncode


def busy_seconds():
    """What all cores of the machine have worked so far; nothing where the system does not tell."""
    try:
        user, nice, system, _idle, _wait, interrupts, soft = map(int, open("/proc/stat").readline().split()[1:8])
    except OSError:
        return 0.0
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


def read_events(scene):
    path = scene / "events.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines() if line] if path.exists() else []


def row(name, which, tools, document, events, took, processor, others, code):
    found = [event["at_ms"] / 1000 for event in events if event["event"] == "finding_made"]
    moments = [0.0, *(event["at_ms"] / 1000 for event in events), took]
    first_calls = [event["at_ms"] / 1000 for event in events if event["event"] == "tool_reached"]
    reached = sum(counts.get("valid_completed", 0) > 0 for counts in document["tools"].values())
    values = [
        name, which, document["summary"]["calls"], document["run"]["lives"], f"{reached}/{tools}",
        f"{first_calls[-1]:.1f}" if first_calls else "",
        f"{found[0]:.1f}" if found else "", f"{found[-1]:.1f}" if found else "", kinds(document),
        f"{max(later - earlier for earlier, later in zip(moments, moments[1:])):.1f}", f"{took:.1f}",
        *(f"{100 * used / took / os.cpu_count():.0f} %" for used in (processor, others)),
        "no" if document["run"]["out_of_time"] else "yes", code,
    ]
    return dict(zip(COLUMNS, values))


def kinds(document):
    """Findings by kind, the commonest first; flaky ones in brackets."""
    def listed(findings):
        counted = collections.Counter(finding["kind"]["type"] for finding in findings)
        return ", ".join(f"{count} {kind}" for kind, count in counted.most_common())
    flaky = listed(document["flaky"])
    return listed(document["findings"]) + (f" (flaky: {flaky})" if flaky else "")


if __name__ == "__main__":
    main()
