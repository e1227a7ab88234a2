#!/usr/bin/env python3
"""Measures what wallfacer adds to the start of a server behind `npx`, `uvx`, `uv run` and `pipx run`, with warm caches.

Each launcher starts the same small server from a package that is made here, so that no registry is asked. `own` is the time
until the server answers `initialize` when the launcher is started directly; `ours` is the time until `wallfacer doctor` has
said `connected`, from the start of the command on. Launchers that are not installed are left out.
"""
import argparse, json, os, pathlib, shutil, statistics, subprocess, sys, tempfile, time, zipfile

LIMIT_MS = 300
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def wheel(place, server):
    """A wheel whose program is the server."""
    about = "pkg-1.0.dist-info/"
    files = {
        "pkg.py": f"import os\ndef main():\n    os.execv({server!r}, [{server!r}, 'correct'])\n",
        about + "METADATA": "Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n",
        about + "WHEEL": "Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        about + "entry_points.txt": "[console_scripts]\npkg = pkg:main\n",
    }
    files[about + "RECORD"] = "".join(f"{name},,\n" for name in [*files, about + "RECORD"])
    place.mkdir()
    with zipfile.ZipFile(place / "pkg-1.0-py3-none-any.whl", "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)


def npm(place, server):
    """A package of npm whose program is the server."""
    package = place / "package"
    package.mkdir()
    (package / "server").write_text(f"#!/bin/sh\nexec {server} correct\n")
    (package / "server").chmod(0o755)
    (package / "package.json").write_text('{"name": "pkg", "version": "1.0.0", "bin": {"pkg": "./server"}}')
    subprocess.run(["tar", "-czf", place / "pkg.tgz", "-C", place, "package"], check=True)
    (place / ".npmrc").write_text("registry=http://127.0.0.1:9/\n")


def own(command, place, env):
    begun = time.monotonic()
    with subprocess.Popen(command, cwd=place, env=env, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL) as child:
        child.stdin.write(json.dumps(HELLO).encode() + b"\n")
        child.stdin.flush()
        answer = child.stdout.readline()
        took = time.monotonic() - begun
        child.stdin.close()
        child.kill()
    if b'"result"' not in answer:
        raise SystemExit(f"{command} does not start the server: {answer!r}")
    return took


def ours(wallfacer, command, place, env):
    events = place / "events"
    events.unlink(missing_ok=True)
    begun = time.monotonic()
    words = [wallfacer, "doctor", "--events", events, "--sandbox", "require", "--", *command]
    child = subprocess.Popen(words, cwd=place, env=env, stdout=subprocess.DEVNULL, stderr=-1)
    took = None
    while took is None and child.poll() is None:
        if events.exists() and '"connected"' in events.read_text():
            took = time.monotonic() - begun
        time.sleep(0.002)
    _, told = child.communicate()
    if child.returncode != 0 or took is None:
        raise SystemExit(f"{words} ended with {child.returncode}: {told.decode()}")
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wallfacer", default="target/release/wallfacer")
    parser.add_argument("--server", default="target/release/wallfacer-fixture")
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    wallfacer, server = (str(pathlib.Path(path).resolve()) for path in (given.wallfacer, given.server))
    failed = False
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        wheel(place / "wheels", server)
        npm(place, server)
        (place / "home").mkdir()
        (place / "script.py").write_text("# /// script\n# dependencies = [\"pkg\"]\n# ///\nimport pkg\npkg.main()\n")
        env = {**os.environ, "HOME": str(place / "home"), "UV_NO_INDEX": "1", "PIP_NO_INDEX": "1"}
        env["UV_FIND_LINKS"] = str(place / "wheels")
        env.pop("XDG_CACHE_HOME", None)
        spec = ["--spec", "./wheels/pkg-1.0-py3-none-any.whl", "pkg"]
        commands = [
            ["npx", "-y", "./pkg.tgz"],
            ["uvx", "--find-links", "wheels", "pkg"],
            ["uv", "run", "--with", "./wheels/pkg-1.0-py3-none-any.whl", "pkg"],
            ["uv", "run", "--find-links", "wheels", "script.py"],
            ["pipx", "run", *spec],
            ["pipx", "run", "--backend", "pip", "--skip-maintenance", *spec],
        ]
        print(f"{'launcher':42} {'own':>8} {'ours':>8} {'added':>8}   (medians of {given.rounds}, ms)")
        for command in commands:
            if not shutil.which(command[0]):
                print(f"{' '.join(command)[:42]:42} not installed")
                continue
            # Fills the caches of both.
            own(command, place, env), ours(wallfacer, command, place, env)
            rounds = [(own(command, place, env), ours(wallfacer, command, place, env)) for _ in range(given.rounds)]
            alone, inside = (1e3 * statistics.median(times) for times in zip(*rounds))
            failed |= inside - alone > LIMIT_MS
            print(f"{' '.join(command)[:42]:42} {alone:8.0f} {inside:8.0f} {inside - alone:+8.0f}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
