#!/usr/bin/env python3
"""Draws the table of what bench/choice.cc measured.

    plot_choice.py CHOICE.json [OUTPUT.svg]

A cell for each op and size, with the device that was chosen, and what was lost
against the best one where that is more than 1%. The default for the output is
the JSON's name with .svg. Needs matplotlib.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")
# The same figures make the same file.
matplotlib.rcParams["svg.hashsalt"] = "runcible"
matplotlib.rcParams["font.size"] = 9

from matplotlib import patches, pyplot  # noqa: E402 (the backend is chosen first)

COLOURS = ["#2f6f9f", "#d0873c", "#6a9a4f", "#8a6fae", "#b8b8b8"]


def lost(cell):
    """By the chosen device, as a share of the best one's time."""
    return cell["seconds"][cell["chosen"]] / min(cell["seconds"].values()) - 1


def draw(axes, table, devices):
    ops = list(dict.fromkeys(cell["op"] for cell in table))
    sizes = sorted({cell["elements"] for cell in table})
    for cell in table:
        x, y = sizes.index(cell["elements"]), ops.index(cell["op"])
        colour = COLOURS[devices.index(cell["chosen"]) % len(COLOURS)]
        axes.add_patch(patches.Rectangle((x, y), 0.96, 0.92, color=colour))
        share = lost(cell)
        text = f"{share:.0%}" if share > 0.01 else ""
        axes.text(x + 0.48, y + 0.46, text, ha="center", va="center", color="white", fontsize=8)
    axes.set_xlim(0, len(sizes))
    axes.set_ylim(len(ops), 0)
    axes.set_xticks([i + 0.48 for i in range(len(sizes))],
                    [f"$10^{len(str(int(size))) - 1}$" for size in sizes])
    axes.set_yticks([i + 0.46 for i in range(len(ops))], ops)
    axes.set_xlabel("elements")
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", type=Path, metavar="CHOICE.json")
    parser.add_argument("output", type=Path, nargs="?", metavar="OUTPUT.svg")
    arguments = parser.parse_args()
    found = json.loads(arguments.figures.read_text())
    devices = list(found["table"][0]["seconds"])
    figure, axes = pyplot.subplots(layout="constrained", figsize=(7.5, 6))
    draw(axes, found["table"], devices)
    axes.set_title(f"Device chosen by op and size; of {len(found['calls'])} mixed calls "
                   f"{found['lost']:.1%} of the time was lost", loc="left", fontsize=10)
    figure.legend(handles=[patches.Patch(color=COLOURS[i % len(COLOURS)], label=device)
                           for i, device in enumerate(devices)],
                  loc="outside lower center", ncols=len(devices), frameon=False)
    output = arguments.output or arguments.figures.with_suffix(".svg")
    figure.savefig(output, metadata={"Date": None})
    print(output)


if __name__ == "__main__":
    main()
