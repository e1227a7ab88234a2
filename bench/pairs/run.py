#!/usr/bin/env python3
"""Runs `wallfacer check` on published releases with a known, fixed defect, and on releases where it is gone.

    run.py PAIRS.json WALLFACER [--work DIR] [--only ID,…] [--side affected|fixed] [--seeds 0,1,2] [--budget 60s]

`check` is told nothing of the defect. A pair is found by a seed when the affected release gives a finding of the pair's
class that the fixed release does not give. The table goes to standard output and into README.md beside this file.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import published

# Which findings are of a class, by words of the class: kinds, and words that the message must have where a kind is wide.
CLASSES = [
    (r"redos|hang", ("hang", "resource_growth"), r""),
    (r"symlink", ("injection",), r"link"),
    (r"prefix", ("injection",), r"begin|prefix|sibling"),
    (r"ssrf", ("injection",), r"connect|request|address|fetch"),
    (r"command injection", ("injection",), r"execut|run|command|program"),
    (r"argument injection", ("injection",), r"option"),
    (r"traversal|scope", ("injection",), r"leav|out|path|direct"),
    (r"schema", ("schema_violation", "output_refused", "internal_error"), r""),
    (r"stdout", ("protocol_error",), r""),
    (r"crash", ("crash",), r""),
    (r"internal error", ("internal_error", "error_leak"), r""),
]


def expected(pair):
    for words, kinds, message in CLASSES:
        if re.search(words, pair["class"].lower()):
            return kinds, message
    sys.exit(f"{pair['id']}: no kind of finding is known for the class `{pair['class']}`")


def of_class(pair, document):
    kinds, message = expected(pair)
    wide = ("injection",)
    fits = lambda entry: entry["kind"]["type"] not in wide or re.search(message, entry["message"])
    return [entry for entry in document["findings"] if entry["kind"]["type"] in kinds and fits(entry)]


def identity(entry):
    """What makes a finding of two releases the same: names that differ between runs do not count."""
    plain = re.sub(r"wf[0-9a-f]{6,}|/[^\s`]*|\d+", "*", entry["message"])
    return entry["kind"]["type"], entry.get("tool"), plain


def judge(pair, affected, fixed):
    """Findings of the class that only the affected release has, and those that both have."""
    known = {identity(entry) for entry in of_class(pair, fixed)} if fixed else set()
    own = [entry for entry in of_class(pair, affected) if identity(entry) not in known]
    return own


def why_missed(document):
    if document.get("failed"):
        return document["failed"]
    listed = [f"{entry['what']}: {entry['why']}" for entry in document.get("not_tested", [])]
    return "; ".join(listed[:3]) or "all was tried"


def rows(pair, runs, seeds):
    """One row of the table: what the affected releases gave, and what the fixed ones did."""
    sides = {side: [runs[side, seed] for seed in seeds if (side, seed) in runs] for side in ("affected", "fixed")}
    found, examples = [], []
    for seed in seeds:
        if ("affected", seed) in runs:
            own = judge(pair, runs["affected", seed], runs.get(("fixed", seed)))
            found.append(bool(own))
            examples += own[:1]
    silent = [entry for document in sides["fixed"] for entry in of_class(pair, document)]
    first = next(iter(sides["affected"]), None)
    what = published.told(examples[0]) if examples else ("" if first is None else f"missed. {why_missed(first)}")
    said = "not run" if not sides["fixed"] else "silent"
    failures = [document["failed"] for document in sides["fixed"] if document.get("failed")]
    said = published.told(silent[0]) if silent else (failures[0] if failures else said)
    return [pair["id"], pair["class"], f"{sum(found)} of {len(found)}", what, said, *figures(sides)]


def figures(sides):
    """For both releases: tools reached, findings of medium and above, calls, seconds."""
    def both(figure):
        return " / ".join(", ".join(str(figure(document)) for document in sides[side]) or "–" for side in ("affected", "fixed"))

    tools = both(lambda document: "{} of {}".format(*published.reached(document)))
    weight = both(lambda document: len(published.grave(document)))
    return [tools, weight, both(lambda document: document["summary"]["calls"]), both(lambda document: document.get("took", "–"))]


HEAD = ["pair", "class", "found", "by (affected)", "fixed release, same class", "tools reached", "≥ medium", "calls", "seconds"]


def main():
    parser = published.options(__doc__.splitlines()[0])
    parser.add_argument("--side", choices=("affected", "fixed"), help="only these releases; the table is then not written")
    how = parser.parse_args()
    how.work, how.wallfacer = how.work.resolve(), how.wallfacer.resolve()
    seeds = [int(word) for word in how.seeds.split(",")]
    pairs = published.chosen(json.loads(how.list.read_text())["pairs"], how.only, lambda pair: pair["id"])
    sides = [how.side] if how.side else ["affected", "fixed"]
    lines, known = [], {}
    show = lambda row: "| " + " | ".join(published.cell(str(value)) for value in row) + " |"
    for line in (show(HEAD), "|" + "---|" * len(HEAD)):
        lines.append(line)
        print(line, flush=True)
    count = 0
    for pair in pairs:
        runs = {}
        for side in sides:
            try:
                published.install(pair, pair[side], how.work)
            except (RuntimeError, OSError) as error:
                print(f"{pair['id']}: {error}", file=sys.stderr, flush=True)
                runs.update({(side, seed): published.failed(str(error)) for seed in seeds})
                continue
            for seed in [] if how.install_only else seeds:
                key = (pair["package"], pair[side], pair["start"], seed)
                if key not in known:
                    known[key] = published.check(pair, pair[side], seed, how)
                runs[side, seed] = known[key]
        row = rows(pair, runs, seeds)
        count += row[2].split(" of ")[0] == str(len(seeds))
        lines.append(show(row))
        print(lines[-1], flush=True)
    total = f"{count} of {len(pairs)} pairs found by every seed. {published.build(how.wallfacer, how)}"
    print(total)
    if not (how.side or how.only or how.install_only or how.no_table):
        published.write_table(pathlib.Path(__file__).with_name("README.md"), [total, "", *lines])


if __name__ == "__main__":
    main()
