"""Installs published servers, sets up what a user of each would have, and runs `wallfacer check` on them.

Shared by `pairs/run.py` and `controls/run.py`. Every run keeps its report, events and messages in a directory of its own,
and is not repeated while that report is there and was made by the same program.
"""

import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

INSTALL_PATIENCE = 900
# What a check may take beyond its own budget before it counts as hung.
GRACE = 120
# The smallest picture there is: one transparent pixel.
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SEVERITIES = ("low", "medium", "high", "critical")
# Calls of a name that no server has.
NO_TOOL = "wallfacer_no_such_tool"


def options(about):
    """The options that both benches take."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("list", type=pathlib.Path, help="the file that lists the servers")
    parser.add_argument("wallfacer", type=pathlib.Path, help="the program to measure")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("bench-work"), help="where releases are installed and runs are kept")
    parser.add_argument("--only", default="", help="ids or packages, with commas between them")
    parser.add_argument("--seeds", default="0", help="one run for each, such as 0,1,2")
    parser.add_argument("--budget", default="60s", help="the time of each run")
    parser.add_argument("--install-only", action="store_true", help="install, and run nothing")
    parser.add_argument("--again", action="store_true", help="run also what has a report of this program")
    parser.add_argument("--no-table", action="store_true", help="leave README.md as it is")
    return parser


def chosen(entries, only, name):
    names = [word for word in only.split(",") if word]
    known = {name(entry) for entry in entries}
    for word in names:
        if word not in known:
            sys.exit(f"there is no `{word}` in the list: {', '.join(sorted(known))}")
    return [entry for entry in entries if not names or name(entry) in names]


def safe(name):
    return "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in name)


def python(version):
    """A Python of this version, or the one that runs this where it is not there."""
    for place in sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python")):
        return str(place)
    return shutil.which(f"python{version}") or sys.executable


def wanted_packages(entry, version):
    """What is installed for one release from PyPI, with the versions of libraries that the release was made for."""
    package = entry["package"]
    if "via" in package:
        # The defect is in the library, which is shown through a server that uses it.
        server = package.split("via")[1].strip()
        return [server, f"mcp=={version}", "pydantic<2.12"]
    extra = [word for word in entry.get("install_extra", "").split() if "<" in word and not word.startswith("mcp")]
    library = ["mcp<2"] if "mcp<2" in entry.get("install", "") else []
    return [f"{package}=={version}", *library, *extra]


def install(entry, version, work):
    """The package of one release, in a directory of its own."""
    place = work / "installed" / f"{safe(entry['package'])}-{version}"
    done = place / "done"
    if done.exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True, exist_ok=True)
    if entry["ecosystem"] == "npm":
        (place / "package.json").write_text('{"private": true}')
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", f"{entry['package']}@{version}"]
    else:
        needs_newer = "3.12" in entry.get("needs", "")
        interpreter = python("3.12") if needs_newer else sys.executable
        subprocess.run([interpreter, "-m", "venv", place / "venv"], check=True)
        command = [place / "venv/bin/pip", "install", "-q", "--disable-pip-version-check", *wanted_packages(entry, version)]
    said = subprocess.run(command, cwd=place, timeout=INSTALL_PATIENCE, capture_output=True, text=True)
    if said.returncode != 0:
        raise RuntimeError(f"cannot install {entry['package']} {version}: {said.stderr.strip()[-400:]}")
    done.touch()
    return place


def program(entry, place):
    """What is started, before arguments of its own."""
    start = entry["start"].split()
    if entry["ecosystem"] == "pypi":
        command = next(word for word in start if "=" not in word or word.startswith("-"))
        binary = str(place / "venv/bin" / command)
        module = start[start.index("-m") :] if "-m" in start else []
        return [binary, *module]
    root = place / "node_modules" / entry["package"]
    manifest = json.loads((root / "package.json").read_text())
    bins = manifest.get("bin") or {}
    file = bins if isinstance(bins, str) else next(iter(bins.values()), manifest.get("main"))
    return ["node", str(root / file)]


def repository(path):
    """A repository with one commit and a file that has changed since."""
    path.mkdir(parents=True)
    git = ["git", "-C", str(path), "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    (path / "page.txt").write_text("one\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    (path / "page.txt").write_text("two\n")


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def cluster(scene):
    """Settings of a cluster that is not there, and a client that says nothing."""
    script(scene / "bin/kubectl", "exit 0\n")
    config = scene / "kubeconfig"
    config.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: bench\n"
        "clusters: [{name: bench, cluster: {server: 'https://127.0.0.1:1'}}]\n"
        "contexts: [{name: bench, context: {cluster: bench, user: bench}}]\nusers: [{name: bench, user: {}}]\n"
    )
    return {"KUBECONFIG": str(config), "PATH": f"{scene / 'bin'}:{os.environ['PATH']}"}


def device(scene):
    """Tools for a telephone that is not there: one device, with a screen of one pixel."""
    sdk = scene / "sdk"
    (sdk / "platform-tools").mkdir(parents=True)
    (sdk / "pixel.png").write_bytes(PIXEL)
    script(
        sdk / "platform-tools/adb",
        f"""case "$*" in
  *screencap*) exec cat '{sdk}/pixel.png' ;;
  *devices*) printf 'List of devices attached\\nemulator-5554\\tdevice\\n\\n' ;;
  *getprop*) echo 'sdk_phone' ;;
  *"wm size"*) echo 'Physical size: 1080x1920' ;;
  *"pm list packages"*) echo 'package:com.example.app' ;;
  *query-activities*) echo 'packageName=com.example.app' ;;
  *uiautomator*) echo '<?xml version="1.0"?><hierarchy rotation="0"><node text="OK" class="android.widget.Button" bounds="[0,0][100,100]" /></hierarchy>' ;;
esac
exit 0
""",
    )
    return {"ANDROID_HOME": str(sdk)}


def setting(entry, scene, work_directory):
    """The arguments and the variables that a user of this server would give it, and what they name."""
    package, words, root = entry["package"], entry["start"], scene / "area" / "root"
    if "--repository" in words:
        repository(root)
        return ["--repository", str(root)], {}
    if package == "mcp-server-git":
        # Started without a repository of its own: the user works in one.
        shutil.rmtree(work_directory)
        repository(work_directory)
        return [], {}
    root.mkdir(parents=True)
    if "arguments" in entry or "variables" in entry:
        return stated(entry, root)
    if "server-filesystem" in package:
        (root / "page.txt").write_text("one\n")
        return [str(root)], {}
    if "server-memory" in package:
        return [], {"MEMORY_FILE_PATH": str(root / "memory.jsonl")}
    if "server-everything" in package:
        return ["stdio"], {}
    if "server-time" in package:
        return ["--local-timezone=UTC"], {}
    if "figma" in package:
        return ["--stdio", "--figma-api-key=x"], {}
    if "searxng" in package:
        return [], {"SEARXNG_URL": "http://127.0.0.1:1"}
    if "godot" in package:
        (root / "project.godot").write_text('config_version=5\n\n[application]\n\nconfig/name="bench"\n')
        (root / "main.gd").write_text("extends Node\n")
        return [], {"GODOT_PROJECT_PATH": str(root)}
    if "kubernetes" in package:
        return [], cluster(scene)
    if "mobile" in package:
        return [], device(scene)
    if "code-index" in package:
        # Without a search program of the machine it searches by itself.
        (root / "page.py").write_text("def one():\n    return 1\n")
        return [], {"PATH": str(scene / "nowhere")}
    if "n8n" in package:
        return [], {"MCP_MODE": "stdio"}
    if "basic-memory" in package:
        return ["mcp"], {"BASIC_MEMORY_HOME": str(root)}
    if "edgartools" in package:
        return [], {"EDGAR_IDENTITY": "Bench bench@example.com"}
    return listed(entry, scene, root)


def listed(entry, scene, root):
    """What the list itself says that a user would have: `arguments` and `environment`, where `<root>` is a directory, and `files` in it."""
    for name, text in entry.get("files", {}).items():
        file = root.parent / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    given = cluster(scene) if entry.get("setup") == "cluster" else {}
    given.update(entry.get("environment", {}))
    fill = lambda word: word.replace("<root>", str(root))
    return [fill(word) for word in entry.get("arguments", [])], {name: fill(value) for name, value in given.items()}


def stated(entry, root):
    """The arguments and the variables that the list itself names, where `<root>` is a directory with a few files."""
    (root / "page.md").write_text("# One\n\nFirst paragraph, see [[two]]. #topic\n")
    (root / "page.py").write_text("def one():\n    return 1\n")
    fill = lambda text: text.replace("<root>", str(root))
    return [fill(word) for word in entry.get("arguments", [])], {name: fill(value) for name, value in entry.get("variables", {}).items()}


def fingerprint(wallfacer):
    about = wallfacer.stat()
    return f"{about.st_size}-{int(about.st_mtime)}"


def check(entry, version, seed, how):
    """What `check` says of one release; kept, so that a bench that was stopped goes on where it was."""
    place = install(entry, version, how.work)
    scene = how.work / "runs" / f"{safe(entry['package'])}-{version}-{how.budget}-seed{seed}"
    report, stamp = scene / "check.json", scene / "made-by"
    made_by = fingerprint(how.wallfacer) + json.dumps(entry.get("start"))
    if not how.again and report.exists() and stamp.exists() and stamp.read_text() == made_by:
        return json.loads(report.read_text())
    shutil.rmtree(scene, ignore_errors=True)
    here = scene / "work"
    here.mkdir(parents=True)
    arguments, environment = setting(entry, scene, here)
    line = [str(how.wallfacer), "check", "--sandbox", "require", "--format", "json", "--seed", str(seed)]
    line += ["--budget", how.budget, "--events", str(scene / "events.jsonl"), "--corpus", str(scene / "corpus"), "--cwd", str(here)]
    line += [word for name, value in environment.items() for word in ("--env", f"{name}={value}")]
    line += ["--", *program(entry, place), *arguments]
    began = time.monotonic()
    try:
        done = subprocess.run(line, cwd=here, capture_output=True, text=True, timeout=seconds(how.budget) + GRACE)
        document, said = json.loads(done.stdout), done.stderr
    except subprocess.TimeoutExpired:
        document, said = failed("the check itself did not end"), ""
    except ValueError:
        document, said = failed((done.stderr.strip().splitlines() or ["no output"])[-1]), done.stderr
    document["took"] = round(time.monotonic() - began)
    document["reached_tools"] = told_as_reached(scene / "events.jsonl")
    (scene / "check.err").write_text(said)
    report.write_text(json.dumps(document, indent=1))
    stamp.write_text(made_by)
    return document


def told_as_reached(events):
    """Tools of which it was told while the check ran that a call succeeded: one that was cut short counts nothing else."""
    if not events.exists():
        return []
    told = (json.loads(line) for line in events.read_text().splitlines() if '"tool_reached"' in line)
    return sorted({event["tool"] for event in told})


def failed(why):
    return {"findings": [], "tools": {}, "summary": {"calls": 0}, "not_tested": [], "failed": why}


def seconds(duration):
    units = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
    digits = duration.rstrip("msh")
    return float(digits) * units[duration[len(digits) :]]


def grave(document):
    """Findings of medium and above."""
    return [entry for entry in document["findings"] if SEVERITIES.index(entry["severity"]) >= 1]


def reached(document):
    """How many tools had a valid call that succeeded, and how many there are."""
    tools = {name: counted for name, counted in document["tools"].items() if name != NO_TOOL}
    worked = {name for name, counted in tools.items() if counted.get("valid_completed", 0) > 0}
    told = set(document.get("reached_tools", [])) - {NO_TOOL}
    return len(worked | told), len(set(tools) | told)


def told(entry):
    return f"{entry['kind']['type']} ({entry['severity']}) in `{entry.get('tool') or 'the server'}`: {entry['message']}"


def cell(text, width=240):
    flat = " ".join(text.replace("|", "\\|").split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def write_table(readme, lines):
    """Puts the table between its two marks in a README."""
    begin, end = "<!-- results: written by run.py -->", "<!-- end of results -->"
    text = readme.read_text()
    before, rest = text.split(begin, 1)
    after = rest.split(end, 1)[1]
    readme.write_text(before + begin + "\n" + "\n".join(lines) + "\n" + end + after)


def build(wallfacer, how):
    """Which program was measured, and how."""
    version = subprocess.run([wallfacer, "--version"], capture_output=True, text=True).stdout.strip()
    day = time.strftime("%Y-%m-%d", time.gmtime())
    return f"{version}, {day}, {how.budget} for each run, seeds {how.seeds}, {os.cpu_count()} processors, one run at a time."
