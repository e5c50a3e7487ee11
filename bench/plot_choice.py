#!/usr/bin/env python3
"""Draws the table of what bench/choice.cc measured.

    plot_choice.py CHOICE.json [OUTPUT.svg]

A cell for each op and size, with a line for each device: how long it took there,
or why it was left out. The line of the device that was chosen is coloured, and
says what was lost against the best one where that is more than 1%. The default
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

from matplotlib import patches, pyplot  # noqa: E402 (the backend is chosen first)

COLOURS = ["#2f6f9f", "#c0752b", "#5b8a41", "#8a6fae", "#888888"]
FRAME = "#d5d5d5"
MISSING = "#9a9a9a"
WIDTH, HEIGHT = 0.97, 0.92  # of a cell, of 1


def time_text(seconds):
    if seconds >= 999.5:
        return f"{seconds / 3600:.2g} h" if seconds < 360000 else f"{seconds / 86400:.2g} days"
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * scale:
            break
    return f"{seconds / scale:#.3g} {unit}".replace(". ", " ")


def reason_text(left_out):
    expected = left_out.get("expected_seconds")
    return left_out["why"] if expected is None else f"{left_out['why']}: ~{time_text(expected)}"


def lost(cell):
    """By the chosen device, as a share of the best one's time; None: not known."""
    seconds = cell["seconds"]
    return seconds[cell["chosen"]] / min(seconds.values()) - 1 if cell["chosen"] in seconds else None


def draw_cell(axes, cell, devices, x, y):
    axes.add_patch(patches.Rectangle((x, y), WIDTH, HEIGHT, fill=False, edgecolor=FRAME, linewidth=0.6))
    for i, device in enumerate(devices):
        height = HEIGHT / len(devices)
        top, colour = y + i * height, COLOURS[i % len(COLOURS)]
        chosen = device == cell["chosen"]
        if chosen:
            axes.add_patch(patches.Rectangle((x, top), WIDTH, height, color=colour, linewidth=0))
        seconds = cell["seconds"].get(device)
        text = time_text(seconds) if seconds is not None else reason_text(cell["left_out"][device])
        style = {"va": "center", "fontsize": 6.5, "fontstyle": "normal" if seconds is not None else "italic",
                 "color": "white" if chosen else colour if seconds is not None else MISSING}
        axes.text(x + 0.05, top + height / 2, text, ha="left", **style)
        share = lost(cell) if chosen else None
        if share is not None and share > 0.01:
            axes.text(x + WIDTH - 0.05, top + height / 2, f"+{share:.0%}", ha="right", fontweight="bold", **style)


def draw(axes, table, devices):
    ops = list(dict.fromkeys(cell["op"] for cell in table))
    sizes = sorted({cell["elements"] for cell in table})
    for cell in table:
        draw_cell(axes, cell, devices, sizes.index(cell["elements"]), ops.index(cell["op"]))
    axes.set_xlim(0, len(sizes))
    axes.set_ylim(len(ops), 0)
    axes.set_xticks([i + WIDTH / 2 for i in range(len(sizes))],
                    [f"$10^{len(str(int(size))) - 1}$" for size in sizes])
    axes.set_yticks([i + HEIGHT / 2 for i in range(len(ops))], ops)
    axes.set_xlabel("elements")
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def title(found):
    known = [lost(cell) for cell in found["table"] if lost(cell) is not None]
    best = sum(share <= 0.05 for share in known)
    return (f"Device chosen by op and size: within 5% of the best one in {best} of {len(known)} cells that were "
            f"measured\nOf {len(found['calls'])} mixed calls {found['lost']:.1%} of the time was lost; "
            f"not tried is what was expected to take more than {found['most_seconds']:g} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", type=Path, metavar="CHOICE.json")
    parser.add_argument("output", type=Path, nargs="?", metavar="OUTPUT.svg")
    arguments = parser.parse_args()
    found = json.loads(arguments.figures.read_text())
    devices = found["devices"]
    rows = len({cell["op"] for cell in found["table"]})
    figure, axes = pyplot.subplots(layout="constrained", figsize=(9.5, 1.2 + 0.15 * rows * len(devices)))
    draw(axes, found["table"], devices)
    axes.set_title(title(found), loc="left", fontsize=10)
    figure.legend(handles=[patches.Patch(color=COLOURS[i % len(COLOURS)], label=device)
                           for i, device in enumerate(devices)],
                  loc="outside lower center", ncols=len(devices), frameon=False)
    output = arguments.output or arguments.figures.with_suffix(".svg")
    figure.savefig(output, metadata={"Date": None})
    print(output)


if __name__ == "__main__":
    main()
