"""Checks what mkdocs does not. Each finding is a warning of mkdocs, which fails a strict build.

- Each row of a table is in its table: a blank line before a row would end the table.
- Each picture has a text: an image has an `alt`, a Mermaid diagram an `accTitle` and an `accDescr`.
- No page, style sheet or picture loads anything from another place.
- Each file or folder of the repository that a page names in code style exists.
- No command of a guide, an example or a manual page gives a token or a key to a process as an argument, which every
  user of the machine can read.
"""

import html.parser
import logging
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
log = logging.getLogger("mkdocs.hooks.checks")


class Loads(html.parser.HTMLParser):
    """The addresses that a page loads, and the number of its images without a text."""

    def __init__(self, text):
        super().__init__()
        self.addresses = []
        self.without_words = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = {name: value or "" for name, value in attributes}
        loading = ["src", "srcset", "poster", "data", "action"] + ["href"] * (tag == "link")
        self.addresses += [values[name] for name in loading if name in values]
        self.without_words += tag == "img" and not values.get("alt")


def on_page_content(content, page, config, files):
    if Loads(content).without_words:
        log.warning("Doc file '%s' contains a picture without words", page.file.src_uri)
    for row in re.findall(r"<p>(\|.*)", content):
        log.warning("Doc file '%s' contains a row of a table outside of a table: %s", page.file.src_uri, row)
    for diagram in re.findall(r'<div class="mermaid">(.*?)</div>', content, re.DOTALL):
        if not ("accTitle:" in diagram and re.search(r"accDescr\s*[:{]", diagram)):
            log.warning("Doc file '%s' contains a diagram without accTitle and accDescr", page.file.src_uri)


def on_post_build(config):
    site = pathlib.Path(config.site_dir)
    for file in sorted(file for file in site.rglob("*") if file.suffix in (".html", ".css", ".svg")):
        text = file.read_text()
        addresses = re.findall(r"""(?:url\(|@import\s+|[\s:]href=)\s*["']?([^"')\s]+)""", text)
        if file.suffix == ".html":
            addresses = Loads(text).addresses
        for address in addresses:
            if re.match(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", address, re.IGNORECASE):
                log.warning("'%s' loads '%s', which is not of this site", file.relative_to(site), address)
    for file in [*(ROOT / "packaging/man").iterdir(), *(ROOT / "examples").rglob("*")]:
        if file.is_file() and file.suffix not in (".md", ".py", ".c", ".pyc"):
            check_commands(str(file.relative_to(ROOT)), file.read_text())


# A path from the root of the repository. A word such as VERSION stands for any name.
PATH = re.compile(r"`((?:Sources|Tests|clients|packaging|docs|examples|systemd|etc|Fuzz|Benchmarks|\.ci|\.github)/[\w./+@*-]*)[` ]")


def on_page_markdown(markdown, page, config, files):
    for path in PATH.findall(markdown):
        if not any(ROOT.glob(re.sub(r"\b(?:VERSION|NAME)\b", "*", path))):
            log.warning("Doc file '%s' names '%s', which does not exist", page.file.src_uri, path)
    for commands in re.findall(r"^ *```(?:sh|bash|console|ini)\n(.*?)^ *```$", markdown, re.MULTILINE | re.DOTALL):
        check_commands(page.file.src_uri, commands)


# A header with a secret in it, a user with a password, or a token itself.
SECRET = re.compile(
    r"""(?:-H|--header)[ =]?["']?(?!@)[^"'@]*(?:authorization|cookie|-key|-token)\s*:"""
    r"""|\bcurl\b.*\s(?:-u|--user|--proxy-user)[ =]?["']?[^\s@"']+:"""
    r"""|\beyJ[A-Za-z0-9_-]{10}""",
    re.IGNORECASE,
)
# A command substitution that prints a token.
PRINTED = re.compile(r"(?:\$\(|`)\s*junctionctl\b[^)`]*\btoken\b")
# Commands that pass their arguments to no other process: assignments and builtins of the shell.
BUILTIN = re.compile(r"""(?:\w+\s+)*?(?:\w+=|echo\b|printf\b|\[\[|for\b|case\b|export\b|local\b|read\b)""")


def check_commands(name, commands):
    for line in re.sub(r"\\e?\n", " ", commands).splitlines():
        for command in re.split(r"\|\|?|&&|;", line):
            command = command.strip().removeprefix("$ ")
            if SECRET.search(command) or (PRINTED.search(command) and not BUILTIN.match(command)):
                log.warning("'%s' has a secret in an argument: %s", name, command)
