"""What mkdocs.yml needs besides: pages link to files of the tree, as on every page that shows a repository. Those files become part of
the site, in tree/, folders as pages that list what is in them, and each link leads there.

    docs/recording.md                      recording.md
    CONTRIBUTING.md                        tree/CONTRIBUTING.md
    examples/ci/                           tree/examples/ci/index.md
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(\]\()([^)#:\s]+)(#[^)\s]*)?(\))")
FENCE = re.compile(r"^ *(```|~~~)")


def place(path):
    """Where the site has a file or folder of the tree."""
    if path == "docs" or path.startswith("docs/"):
        path = path[len("docs/"):]
    else:
        path = f"tree/{path}"
    return f"{path}/index.md" if (ROOT / origin(path)).is_dir() else path


def origin(uri):
    """The file or folder of the tree that the site has there."""
    uri = uri.removesuffix("/index.md") if not (ROOT / "docs" / uri).exists() else uri
    return uri[len("tree/"):] if uri.startswith("tree/") else f"docs/{uri}"


def listing(folder):
    """A page for a folder: its README, if there is one, and its files."""
    readme = folder / "README.md"
    names = sorted(f.name + ("/" if f.is_dir() else "") for f in folder.iterdir() if f.name != "README.md")
    text = readme.read_text() if readme.exists() else f"# {folder.relative_to(ROOT)}\n"
    return text + "\n" + "".join(f"* [{name}]({name.rstrip('/')})\n" for name in names)


def text_of(path):
    file = ROOT / path
    return listing(file) if file.is_dir() else file.read_text()


def outside_fences(markdown, change):
    """The text with `change` made to each run of lines that is not code."""
    parts, fenced = [[]], False
    for line in markdown.split("\n"):
        if FENCE.match(line):
            if not fenced:
                parts.append([])
            parts[-1].append(line)
            if fenced:
                parts.append([])
            fenced = not fenced
        else:
            parts[-1].append(line)
    texts = ["\n".join(part) for part in parts]
    return "\n".join(t if FENCE.match(t) else change(t) for t in texts if t or t == "")


def targets(path, markdown):
    """What of the tree the page at `path` links to."""
    base = path if (ROOT / path).is_dir() else posixpath.dirname(path)
    found = set()
    outside_fences(markdown, lambda text: found.update(m[2] for m in LINK.finditer(text)) or text)
    for link in found:
        target = posixpath.normpath(posixpath.join(base, link))
        if not target.startswith("..") and (ROOT / target).exists():
            yield target


def on_files(files, config):
    known = {origin(f.src_uri) for f in files}
    waiting = [path for path in known if path.endswith(".md")] + ["CONTRIBUTING.md", "CHANGELOG.md"]
    seen = set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if path not in known:
            known.add(path)
            file = ROOT / path
            given = {"content": listing(file)} if file.is_dir() else {"abs_src_path": str(file)}
            files.append(File.generated(config, place(path), **given))
        if path.endswith(".md") or (ROOT / path).is_dir():
            waiting.extend(targets(path, text_of(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    path = origin(page.file.src_uri)
    base = path if (ROOT / path).is_dir() else posixpath.dirname(path)
    here = posixpath.dirname(page.file.src_uri)

    def rewrite(match):
        target = posixpath.normpath(posixpath.join(base, match[2]))
        if target.startswith("..") or not (ROOT / target).exists():
            return match[0]  # mkdocs says that it is dead
        return match[1] + posixpath.relpath(place(target), here or ".") + (match[3] or "") + match[4]

    def change(text):
        # A list may follow a paragraph at once, as everywhere but here.
        text = re.sub(r"^(?! *[*0-9-]|\||    )(\S.*)\n(?=(\* |1\. ))", r"\1\n\n", text, flags=re.M)
        return LINK.sub(rewrite, text)

    return outside_fences(markdown, change)
