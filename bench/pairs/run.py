#!/usr/bin/env python3
"""A list of defects that were found and fixed in published servers in, a table of what `wallfacer check` sees of them out.

    run.py PAIRS.json WALLFACER [WORKDIR] [--only ID,…] [--side affected|fixed] [--budget DUR]

Each pair names a package, an affected release and a fixed one. Both are installed by name and version, started in the
sandbox, and checked; `check` is told nothing of the defect. Only classes that an injection can show are taken. A release
that stands in several pairs is checked once.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

CLASSES = ("injection", "traversal", "scope", "symlink", "ssrf", "redos")
KINDS = ("injection", "resource_growth", "hang")
INSTALL_PATIENCE = 300


def wanted(pair):
    return any(word in pair["class"].lower() for word in CLASSES)


def install(pair, version, home):
    """The package of one release, in a directory of its own; the path of what starts it."""
    place = home / "installed" / f"{pair['package'].replace('/', '_')}-{version}"
    done = place / "done"
    if not done.exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        if pair["ecosystem"] == "npm":
            (place / "package.json").write_text('{"private": true}')
            command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", f"{pair['package']}@{version}"]
            subprocess.run(command, cwd=place, check=True, timeout=INSTALL_PATIENCE, stdout=subprocess.DEVNULL)
        else:
            subprocess.run([sys.executable, "-m", "venv", place / "venv"], check=True)
            command = [place / "venv/bin/pip", "install", "-q", f"{pair['package']}=={version}", "mcp<2"]
            subprocess.run(command, check=True, timeout=INSTALL_PATIENCE)
        done.touch()
    return place


def program(pair, place):
    """What is started, before the arguments of its own."""
    if pair["ecosystem"] == "pypi":
        return [str(place / "venv/bin" / pair["package"])]
    root = place / "node_modules" / pair["package"]
    manifest = json.loads((root / "package.json").read_text())
    entry = manifest["bin"] if isinstance(manifest.get("bin"), str) else next(iter(manifest["bin"].values()))
    return ["node", str(root / entry)]


def repository(path):
    """A repository with one commit and a file that has changed since."""
    path.mkdir(parents=True)
    git = ["git", "-C", str(path), "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    (path / "page.txt").write_text("one\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    (path / "page.txt").write_text("two\n")


def setting(pair, place, scene):
    """The command line and the environment that the server is given, and what they name."""
    root = scene / "area" / "root"
    command, environment = program(pair, place), {}
    package = pair["package"]
    if "git" in pair["id"]:
        repository(root)
        return [*command, "--repository", str(root)], environment
    root.mkdir(parents=True)
    if "filesystem" in package:
        (root / "page.txt").write_text("one\n")
        return [*command, str(root)], environment
    if "figma" in package:
        return [*command, "--stdio", "--figma-api-key=x"], environment
    if "searxng" in package:
        return command, {"SEARXNG_URL": "http://127.0.0.1:1"}
    if "godot" in package:
        (root / "project.godot").write_text('config_version=5\n\n[application]\n\nconfig/name="bench"\n')
        (root / "main.gd").write_text("extends Node\n")
        return command, {"GODOT_PROJECT_PATH": str(root)}
    if "kubernetes" in package:
        stand_in = scene / "bin" / "kubectl"
        stand_in.parent.mkdir()
        stand_in.write_text("#!/bin/sh\nexit 0\n")
        stand_in.chmod(0o755)
        config = scene / "kubeconfig"
        config.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: bench\n"
            "clusters: [{name: bench, cluster: {server: 'https://127.0.0.1:1'}}]\n"
            "contexts: [{name: bench, context: {cluster: bench, user: bench}}]\nusers: [{name: bench, user: {}}]\n"
        )
        return command, {"KUBECONFIG": str(config), "PATH": f"{stand_in.parent}:{os.environ['PATH']}"}
    if "code-index" in package:
        # Without a search program of the machine it searches by itself.
        return command, {"PATH": str(scene / "nowhere")}
    return command, environment


def check(pair, version, home, wallfacer, budget):
    """What `check` says of one release, and where its time went."""
    place = install(pair, version, home)
    scene = home / "scenes" / f"{pair['package'].replace('/', '_')}-{version}-{budget}"
    shutil.rmtree(scene, ignore_errors=True)
    (scene / "work").mkdir(parents=True)
    command, environment = setting(pair, place, scene)
    variables = [word for name, value in environment.items() for word in ("--env", f"{name}={value}")]
    line = [str(wallfacer), "check", "--sandbox", "require", "--format", "json", "--budget", budget, *variables]
    line += ["--events", str(scene / "events.jsonl"), "--cwd", str(scene / "work"), "--", *command]
    done = subprocess.run(line, cwd=scene / "work", capture_output=True, text=True)
    (scene / "check.json").write_text(done.stdout)
    (scene / "check.err").write_text(done.stderr)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"findings": [], "failed": (done.stderr.strip().splitlines() or ["no output"])[-1]}


def told(document):
    found = [entry for entry in document["findings"] if entry["kind"]["type"] in KINDS]
    lines = [f"{entry.get('tool') or 'server'}: {entry['message']}" for entry in found]
    unfinished = [entry["what"] for entry in document.get("not_tested", []) if "injection" in entry["what"]]
    return (lines or [document.get("failed", "nothing")]) + [f"({what} not tried)" for what in unfinished]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", type=pathlib.Path)
    parser.add_argument("wallfacer", type=pathlib.Path)
    parser.add_argument("workdir", type=pathlib.Path, nargs="?", default=pathlib.Path("bench-pairs"))
    parser.add_argument("--only", default="")
    parser.add_argument("--side", choices=("affected", "fixed"))
    parser.add_argument("--budget", default="60s")
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    pairs = [pair for pair in json.loads(options.pairs.read_text())["pairs"] if wanted(pair)]
    home, wallfacer = options.workdir.resolve(), options.wallfacer.resolve()
    known = {}
    print("| pair | release | found |\n|---|---|---|")
    for pair in pairs:
        if only and pair["id"] not in only:
            continue
        for which in [options.side] if options.side else ["affected", "fixed"]:
            release = (pair["package"], pair[which])
            if release not in known:
                known[release] = check(pair, pair[which], home, wallfacer, options.budget)
            print(f"| {pair['id']} | {which} {pair[which]} | {'; '.join(told(known[release]))} |", flush=True)


if __name__ == "__main__":
    main()
