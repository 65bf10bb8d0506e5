"""Check the built site: `sphinx-build -W docs site && python tests/docs/walk.py site`.

The script parses every page: links and anchors must have a target, pictures must exist, and no page
may load files from another host. If Playwright and Chromium are installed (`pip install playwright
&& playwright install chromium`), it also opens every page at 400 and 1280 pixels, light and dark.
There must be no console error, no failed request, no request to another host, and no page wider
than the window.
"""

import argparse
import functools
import http.server
import shutil
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements and attributes that make a browser load a file.
LOADS = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
# A browser loads a `link` only with one of these relations.
RELATIONS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch"}


def pages_of(site: Path) -> list[Path]:
    """Return the pages of the site, without the files of the theme."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


class Page(HTMLParser):
    """The anchors of a page, its links, and the files that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.title = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.title |= tag == "h1"
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        relations = set((given.get("rel") or "").split())
        for attribute in ("src", "href"):
            value = given.get(attribute)
            loaded = (tag, attribute) in LOADS and (tag != "link" or relations & RELATIONS)
            if value and loaded:
                self.loads.append(value)


def faults_of(site: Path) -> list[str]:
    """Return the faults that parsing the pages of a folder finds."""
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in pages_of(site)}
    faults = []
    for path, page in pages.items():
        here = path.relative_to(site.resolve())
        if not page.title and path.name not in ("search.html", "genindex.html"):
            faults.append(f"{here}: no heading")
        for target in page.loads + page.links:
            loaded = target in page.loads
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if loaded and parts.scheme != "data":
                    faults.append(f"{here}: loads {target}")
                continue
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not aim.exists():
                faults.append(f"{here}: {target} does not exist")
                continue
            anchors = pages[aim].anchors if aim in pages else {unquote(parts.fragment)}
            if parts.fragment and unquote(parts.fragment) not in anchors:
                faults.append(f"{here}: {target} has no such anchor")
    for path in site.rglob("*.css"):
        text = path.read_text("utf-8")
        if "url(http" in text or "url(//" in text or "@import url(http" in text:
            faults.append(f"{path.name}: loads from elsewhere")
    return faults if pages else ["there are no pages"]


def walk(site: Path) -> list[str]:
    """Return the faults that a browser finds on the pages of a folder."""
    from playwright.sync_api import sync_playwright

    handler = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}/"
    faults: list[str] = []
    with sync_playwright() as player:
        # The Chromium of the system, or the one that Playwright installed.
        browser = player.chromium.launch(executable_path=shutil.which("chromium"))
        for width in (400, 1280):
            for scheme in ("light", "dark"):
                view = {"width": width, "height": 900}
                context = browser.new_context(viewport=view, color_scheme=scheme)
                page = context.new_page()
                for path in pages_of(site):
                    name = path.relative_to(site).as_posix()
                    found = look(page, home, name)
                    faults += [f"{name} at {width}, {scheme}: {fault}" for fault in found]
                context.close()
        browser.close()
    server.shutdown()
    return faults


def look(page, home: str, name: str) -> list[str]:
    """Open a page and return its faults."""
    faults: list[str] = []
    heard = {
        "console": lambda said: said.type == "error" and faults.append(said.text),
        "pageerror": lambda error: faults.append(str(error)),
        # Opening the next page aborts pending requests.
        "requestfailed": lambda request: (
            request.failure == "net::ERR_ABORTED"
            or faults.append(f"{request.url} failed: {request.failure}")
        ),
        "request": lambda request: (
            request.url.startswith((home, "data:")) or faults.append(f"fetches {request.url}")
        ),
    }
    for event, listener in heard.items():
        page.on(event, listener)
    page.goto(home + name, wait_until="load")
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if wide > 1:
        faults.append(f"is {wide} pixels wider than the window")
    for event, listener in heard.items():
        page.remove_listener(event, listener)
    return faults


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server that logs nothing, and answers browsers that ask for an icon by themselves."""

    def do_GET(self):
        if self.path == "/favicon.ico":
            self.send_response(http.HTTPStatus.NO_CONTENT)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *arguments):
        pass


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, nargs="?", default=Path("site"))
    site = parser.parse_args().site
    faults = faults_of(site)
    try:
        faults += walk(site)
    except ImportError:
        print("Playwright is not installed: pages were parsed, but not opened in a browser")
    print(*faults, f"{len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
