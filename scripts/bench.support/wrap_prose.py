"""Wraps the paragraphs and lists of a Markdown page at 110 columns; tables, headings and code stay as they
are."""

import re
import textwrap

WIDTH = 110
MARKER = re.compile(r"(\s*(?:[-*]|\d+\.) )(.*)")


def is_code(line, paragraph):
    return line.startswith("    ") and not paragraph


def wrapped(page):
    out, paragraph, indents, in_code = [], [], ("", ""), False

    def end_paragraph():
        # Spaces inside of links and code are no places to break a line.
        text = re.sub(
            r"`[^`]*`|\[[^\]]*\]\([^)]*\)", lambda m: m.group().replace(" ", "\0"), " ".join(paragraph)
        )
        options = {"break_long_words": False, "break_on_hyphens": False}
        lines = textwrap.wrap(text, WIDTH, initial_indent=indents[0], subsequent_indent=indents[1], **options)
        out.extend(line.replace("\0", " ") for line in lines)
        paragraph.clear()

    for line in page.split("\n"):
        item = MARKER.fullmatch(line)
        if line.startswith("```"):
            end_paragraph()
            in_code = not in_code
            out.append(line)
        elif (
            in_code
            or not line.strip()
            or line.lstrip().startswith(("|", "#", "!", "<"))
            or is_code(line, paragraph)
        ):
            end_paragraph()
            out.append(line)
        elif item:
            end_paragraph()
            indents = (item.group(1), " " * len(item.group(1)))
            paragraph.append(item.group(2))
        else:
            if not paragraph:
                indent = line[: len(line) - len(line.lstrip())]
                indents = (indent, indent)
            paragraph.append(line.strip())
    end_paragraph()
    return "\n".join(out)
