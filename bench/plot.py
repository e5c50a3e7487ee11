#!/usr/bin/env python3
"""Draws what compare.py measured.

    plot.py COMPARE.json [OUTPUT.svg]

One row of bars for each model: prompts, decoding of one and of many sequences,
Runcible beside the peer, and a line where the machine's limit is. The default
for the output is the JSON's name with .svg. Needs matplotlib.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")
# The same figures make the same file.
matplotlib.rcParams["svg.hashsalt"] = "runcible"
matplotlib.rcParams["font.size"] = 9

from matplotlib import pyplot  # noqa: E402 (the backend is chosen first)

OURS, PEERS, LIMIT = "#2f6f9f", "#b8b8b8", "#b03030"


def label_of(what):
    words = what.split()
    if words[0] == "prompt":
        return f"prompt of {words[1]}"
    count, depth = int(words[1]), int(words[3])
    sequences = "decode" if count == 1 else f"decode, {count} at once"
    return sequences if depth < 100 else f"{sequences}, behind {depth}"


def draw(axes, model, rows, peer):
    """Tokens per second, one pair of bars for each figure."""
    places = range(len(rows))
    axes.barh([place - 0.2 for place in places], [row["tokens_per_second"] for row in rows], 0.38, color=OURS,
              label="Runcible")
    axes.barh([place + 0.2 for place in places], [row.get("peer_tokens_per_second", 0) for row in rows], 0.38,
              color=PEERS, label=peer)
    first = True
    for place, row in zip(places, rows):
        text = f" {row['tokens_per_second']:.0f}" + (f"  ({row['ratio']:.2f} x)" if "ratio" in row else "")
        axes.text(row["tokens_per_second"], place - 0.2, text, va="center", fontsize=8)
        if row.get("share"):
            limit = row["tokens_per_second"] / row["share"]
            axes.plot([limit, limit], [place - 0.42, place + 0.42], color=LIMIT,
                      label="limit of the machine" if first else None)
            first = False
    axes.set_yticks(list(places), [label_of(row["what"]) for row in rows])
    axes.invert_yaxis()
    axes.set_title(model, loc="left", fontsize=10)
    axes.margins(x=0.12)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", type=Path, metavar="COMPARE.json")
    parser.add_argument("output", type=Path, nargs="?", metavar="OUTPUT.svg")
    arguments = parser.parse_args()
    found = json.loads(arguments.figures.read_text())
    models = list(dict.fromkeys(row["model"] for row in found["rates"]))
    rows = {model: [row for row in found["rates"] if row["model"] == model] for model in models}
    peer = f"{found['peer']['name']} {found['peer']['version']}"
    figure, all_axes = pyplot.subplots(
        len(models), 1, squeeze=False, layout="constrained",
        figsize=(7.5, sum(0.45 * len(one) + 0.7 for one in rows.values()) + 0.3),
        gridspec_kw={"height_ratios": [len(one) + 1 for one in rows.values()]})
    for model, axes in zip(models, all_axes[:, 0]):
        draw(axes, model, rows[model], peer)
    all_axes[-1, 0].set_xlabel("tokens per second")
    all_axes[0, 0].legend(loc="lower right", fontsize=8)
    output = arguments.output or arguments.figures.with_suffix(".svg")
    figure.savefig(output, metadata={"Date": None})
    print(output)


if __name__ == "__main__":
    main()
