#!/usr/bin/env python3
"""A terminal's screen as a page: what `tmux capture-pane -e -p` prints, on standard input, becomes HTML on standard output.

usage: terminal.py TITLE < SCREEN > PAGE
"""

import html
import re
import sys

COLOURS = ["#2e3440", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#dcdfe4"]
STYLE = """
body { margin: 0; background: #14161a; }
header { font: 13px sans-serif; color: #a8adb5; background: #22262e; padding: 7px 14px; }
header::before { content: "● ● ●"; color: #5b6068; margin-right: 14px; letter-spacing: 2px; }
pre { margin: 0; padding: 12px 14px; color: #dcdfe4; font: 14px/16px "DejaVu Sans Mono", monospace; }
"""


def look(codes, now):
    """The style after some codes of an escape sequence."""
    now = dict(now)
    for code in codes:
        if code == 0:
            now = {}
        elif code == 1:
            now["font-weight"] = "bold"
        elif code == 2:
            now["opacity"] = "0.6"
        elif code == 22:
            now.pop("font-weight", None)
            now.pop("opacity", None)
        elif 30 <= code <= 37:
            now["color"] = COLOURS[code - 30]
        elif 90 <= code <= 97:
            now["color"] = COLOURS[code - 90]
        elif code == 39:
            now.pop("color", None)
    return now


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    screen = sys.stdin.read().rstrip("\n")
    out, now = [], {}
    for part in re.split(r"(\x1b\[[0-9;]*m)", screen):
        if part.startswith("\x1b["):
            now = look([int(code or 0) for code in part[2:-1].split(";")], now)
        elif part:
            style = ";".join(f"{name}:{value}" for name, value in now.items())
            text = html.escape(re.sub(r"\x1b[()][A-Z0-9]|[\x0e\x0f]", "", part))
            out.append(f'<span style="{style}">{text}</span>' if style else text)
    title = html.escape(sys.argv[1])
    print(f'<!doctype html><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
          f"<header>{title}</header><pre>{''.join(out)}</pre>")


main()
