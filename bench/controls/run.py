#!/usr/bin/env python3
"""Runs `wallfacer check` on current releases of published servers, where nothing should be found but what is known.

    run.py CONTROLS.json WALLFACER [--work DIR] [--only PACKAGE,…] [--seeds 0,1,2] [--budget 60s]

The table goes to standard output and into README.md beside this file. Every finding of medium and above is listed, to be
looked at by hand.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import published

HEAD = ["server", "release", "tools reached", "≥ medium", "low", "calls", "seconds", "what was said (medium and above)"]


def row(control, documents):
    each = lambda figure: ", ".join(str(figure(document)) for document in documents)
    said = sorted({published.told(entry) for document in documents for entry in published.grave(document)})
    failures = [document["failed"] for document in documents if document.get("failed")]
    return [
        control["package"],
        control["version"],
        each(lambda document: "{} of {}".format(published.reached(document)[0], control["tools"])),
        each(lambda document: len(published.grave(document))),
        each(lambda document: len(document["findings"]) - len(published.grave(document))),
        each(lambda document: document["summary"]["calls"]),
        each(lambda document: document.get("took", "–")),
        "; ".join(failures + said) or "nothing",
    ]


def main():
    how = published.options(__doc__.splitlines()[0]).parse_args()
    how.work, how.wallfacer = how.work.resolve(), how.wallfacer.resolve()
    seeds = [int(word) for word in how.seeds.split(",")]
    controls = published.chosen(json.loads(how.list.read_text())["controls"], how.only, lambda control: control["package"])
    lines = []
    show = lambda row: "| " + " | ".join(published.cell(str(value), 600) for value in row) + " |"
    for line in (show(HEAD), "|" + "---|" * len(HEAD)):
        lines.append(line)
        print(line, flush=True)
    for control in controls:
        try:
            published.install(control, control["version"], how.work)
        except (RuntimeError, OSError) as error:
            documents = [published.failed(str(error))]
        else:
            documents = [] if how.install_only else [published.check(control, control["version"], seed, how) for seed in seeds]
        lines.append(show(row(control, documents)))
        print(lines[-1], flush=True)
    built = published.build(how.wallfacer, how)
    print(built)
    if not (how.only or how.install_only or how.no_table):
        published.write_table(pathlib.Path(__file__).with_name("README.md"), [built, "", *lines])


if __name__ == "__main__":
    main()
