"""Every link of the site leads to a file of it, and to a place that is there; every page of docs/ is in it.

links.py SOURCE SITE
"""

import html.parser
import pathlib
import posixpath
import sys
import urllib.parse

source, site = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.places, self.text, self.headings = [], {"", "top"}, [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        self.headings += tag == "h1"
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag in ("link", "script", "img"):
            self.links += [attributes[name] for name in ("href", "src") if name in attributes]

    def handle_data(self, data):
        self.text.append(data)


def dead_links(pages):
    faults = []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue  # of others
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), urllib.parse.unquote(parts.path)))
            target = path if not parts.path else target
            file = site / target
            if not (file / "index.html" if file.is_dir() else file).exists():
                faults.append(f"{path}: no {link}")
            elif target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].places:
                faults.append(f"{path}: no place {link}")
    return faults


files = [f for f in site.rglob("*.html") if f.name != "404.html"]
pages = {f.relative_to(site).as_posix(): Page(f.read_text()) for f in files}
faults = dead_links(pages)
for page in (source / "docs").rglob("*.md"):
    name = page.relative_to(source / "docs").with_suffix(".html").as_posix()
    name = posixpath.join(posixpath.dirname(name), "index.html") if page.name == "README.md" else name
    if name not in pages:
        faults.append(f"docs/{page.name} is not in the site")
    elif pages[name].headings != 1:
        faults.append(f"{name}: {pages[name].headings} headings of the first order, expected one")
if not (site / "search" / "search_index.json").exists():
    faults.append("the site cannot be searched")

# What follows links must find a dead one.
canary = dict(pages) | {"canary.html": Page('<a href="no-such-page.html">a</a><a href="index.html#no-such-place">b</a>')}
if len(dead_links(canary)) != len([f for f in faults if ": no " in f]) + 2:
    faults.append("dead links are not found")
if faults:
    sys.exit("\n".join(sorted(faults)))
print(f"{len(pages)} pages, {sum(len(p.links) for p in pages.values())} links")
