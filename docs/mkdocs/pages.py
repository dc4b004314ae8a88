"""Tells mkdocs which files of the repository are part of the site.

mkdocs reads pages from one folder, but the guides lie beside the code that they describe. So this hook takes the pages
from the whole checkout: every Markdown file that Git does not ignore, and each file that one of these pages links to.

A line `<!-- manual page: FILE -->` of a page stands for that manual page, which mandoc converts.
"""

import html
import importlib.util
import pathlib
import re
import shutil
import subprocess
from urllib.parse import urljoin

from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Link, Section
from mkdocs.utils import get_relative_url

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = ROOT / ".build-docs/api"  # The output of DocC, from docs/build.
AS_THEY_ARE = (".md", ".png", ".svg")


def on_files(files, config):
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    found = Files([file for file in files if file.src_dir != config.docs_dir])  # The theme's files.
    for path in listed:
        if (ROOT / path).is_file():
            # Source files get `.txt`, so that a browser shows them instead of saving them.
            place = None if path.endswith(AS_THEY_ARE) else f"{path}.txt"
            found.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls, dest_uri=place))
    script = importlib.util.find_spec("mermaidx").submodule_search_locations[0] + "/assets"
    found.append(File("mermaid.js", script, config.site_dir, config.use_directory_urls))
    return found


def on_nav(nav, config, files):
    if LIBRARIES.is_dir():
        names = sorted(folder.name for folder in LIBRARIES.iterdir())
        nav.items.append(
            Section("Swift", [Link(name, f"api/{name}/documentation/{name.lower()}/index.html") for name in names])
        )
    return nav


def manual_page(match):
    """Returns the manual page as HTML, with headings below those of the page and with names of its own for them."""
    path = ROOT / match[1]
    command = ["mandoc", "-T", "html", "-O", "fragment", path]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = re.sub(r'<table class="(?:head|foot)">.*?</table>', "", text, flags=re.DOTALL)
    text = re.sub(r"(</?h)([12])\b", lambda tag: f"{tag[1]}{int(tag[2]) + 2}", text)
    return re.sub(r'(id="|href="#)', rf"\1{path.name}-", text)


def on_page_content(content, page, config, files):
    content = re.sub(r"<!-- manual page: (\S+) -->", manual_page, content)
    if '<div class="mermaid">' not in content:
        return content
    script = get_relative_url("mermaid.js", page.url)
    theme = "matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'default'"
    return f'{content}<script src="{script}"></script><script>mermaid.initialize({{theme: {theme}}})</script>'


def on_env(env, config, files):
    linked = set()
    for file in files.documentation_pages():
        for link in re.findall(r'(?:href|src)="([^"#]+)', file.page.content):
            linked.add(urljoin(f"/{file.url}", html.unescape(link)))
    for file in [file for file in files if file.src_dir == str(ROOT) and not file.is_documentation_page()]:
        if f"/{file.url}" not in linked:
            files.remove(file)


def on_post_build(config):
    if LIBRARIES.is_dir():
        shutil.copytree(LIBRARIES, pathlib.Path(config.site_dir) / "api")
