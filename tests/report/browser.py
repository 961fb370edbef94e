"""Opens HTML reports in headless Chromium: clicks, filters, follows links, measures, takes pictures.

browser.py ASSAY FOLDER: the pictures and reports are left in FOLDER. Ends with 77 where there is no browser.
"""

import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("skipped: there is no selenium here (python3-selenium)")
    sys.exit(77)

ASSAY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
HOSTILE = "</script><script>document.title='broken'</script><!--"

# Twelve transactions that close one cycle of reads that missed the next one's write.
CYCLE_OF_TWELVE = "initial 0\n" + "".join(
    f"s{i}: {{ r(k{i},0) w(k{(i + 1) % 12},1) }}\n" for i in range(12)
)


def row(number, on_call, by):
    return json.dumps({"id": number, "name": "a doctor of the early shift with a long name", "shift": 1, "on_call": on_call, "written_by": str(by)})


HISTORIES = {
    "lost-update": (
        "initial 0\n"
        'event {"event":"fault","kind":"kill","at":24}\n'
        "s1: T1 @[0,5] { w(x,1) }\n"
        "s2: T2 @[10,30] { r(x,1) w(x,2) }\n"
        "s3: T3 @[12,31] { r(x,1) w(x,3) }\n"
        "s1: T4 @[32,40] { r(y,0) w(y,1) }\n"
        "s2: T5 @[33,38] { r(x,3) }!\n"
        "s3: T6 @[41,50] { r(x,3) r(y,1) }\n"
    ),
    "twelve": CYCLE_OF_TWELVE,
    # The last compare-and-set must have succeeded: x was 6, and nobody changed it.
    "register": (
        "s1: @[0,6] { ins(x,1) }\n"
        + "".join(f"s{1 + i % 2}: @[{10 * i},{10 * i + 12}] {{ cas(x,{i},{i + 1}) }}\n" for i in range(1, 6))
        + "s3: @[20,45] { r(x,4) }\n"
        + "s3: @[70,80] { cas(x,6,9)! }\n"
        + "s1: @[82,90] { r(x,6) }\n"
    ),
    "satisfied": "initial 0\n" + "".join(f"s{i % 3}: {{ r(x,{i}) w(x,{i + 1}) a(l,{i}) }}\n" for i in range(20)),
    "hostile": (
        "initial 0\n"
        f's1: {{ r("{HOSTILE}",0) r(y,0) w("{HOSTILE}",1) }}\n'
        f's2: {{ r("{HOSTILE}",0) r(y,0) w(y,1) }}\n'
    ),
    # Rows of tables, which are long: a box must not grow with them.
    "rows": "".join((
        '{"assay":1,"uses":["rows","pred"],"meta":{"database":{"name":"PostgreSQL","version":"15.7","isolation":"read committed"}}}\n',
        *(f'{{"session":{s},"ops":[["pred","shift = 1 and on_call = 1",[["doctors:1",{row(1, 1, 0)}],["doctors:2",{row(2, 1, 0)}]]],'
          f'["w","doctors:{s}",{row(s, 0, s)}]]}}\n' for s in (1, 2)),
        f'{{"session":3,"ops":[["w","doctors:1",{row(1, 1, 0)}],["w","doctors:2",{row(2, 1, 0)}]]}}\n',
    )),
    # PolySI's long fork: which of two versions came first follows only from a proof, so the other order is refuted.
    "refuted": (
        "s1: T0 { w(x,0) w(y,0) } T5 { w(x,5) }\n"
        "s2: T1 { w(x,1) }\n"
        "s3: T2 { w(y,2) }\n"
        "s4: T3 { r(x,1) r(y,0) }\n"
        "s5: T4 { r(x,0) r(y,2) }\n"
    ),
}


def browser(dark=False):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1200,1400", "--lang=en"):
        options.add_argument(flag)
    if dark:
        options.add_argument("--force-dark-mode")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def report(name, text, *levels):
    history = FOLDER / f"{name}.{'jsonl' if text.startswith('{') else 'hist'}"
    history.write_text(text)
    page = FOLDER / f"{name}.html"
    subprocess.run([ASSAY, "check", str(history), "--report", str(page), *levels], stdout=subprocess.DEVNULL, check=False)
    assert page.exists(), f"no report for {name}"
    return page


class Page:
    def __init__(self, driver, path, address=""):
        self.driver = driver
        driver.get("about:blank")
        driver.get_log("browser"), driver.get_log("performance")
        driver.get(path.as_uri() + address)
        self.path = path

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def wait_for(self, happens):
        """Looks until it does. The time only ends a test that hangs."""
        until = time.monotonic() + 600
        while not happens():
            assert time.monotonic() < until, f"{self.path.name}: what was waited for does not happen"
            time.sleep(0.05)

    def shown(self, selector):
        return [e for e in self.all(selector) if e.is_displayed()]

    def one(self, selector):
        found = self.shown(selector)
        assert found, f"{self.path.name}: expected something for {selector}"
        return found[0]

    def press(self, selector, text=None):
        found = [e for e in self.shown(selector) if text is None or e.text == text]
        assert found, f"{self.path.name}: expected {selector} that says {text}"
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", found[0])
        found[0].click()

    def boxes(self, selector):
        return self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map(e => { const r = e.getBoundingClientRect();"
            " return [e.textContent, r.left, r.top, r.right, r.bottom]; })",
            selector,
        )

    def address(self):
        return self.driver.execute_script("return location.hash")

    def picture(self, name):
        height = self.driver.execute_script("return document.documentElement.scrollHeight")
        self.driver.set_window_size(1200, min(height + 160, 4000))
        self.driver.save_screenshot(str(FOLDER / f"{name}.png"))
        self.driver.set_window_size(1200, 1400)

    def is_quiet(self):
        """Nothing went wrong, and nothing was asked for but the page itself."""
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        assert not said, f"{self.path.name}: the console says {said}"
        asked = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"].split("#")[0])
        others = [url for url in asked if url not in (self.path.as_uri(), "about:blank")]
        assert not others, f"{self.path.name}: expected no requests, found {others}"


def overlapping(boxes):
    for i, (a, left, top, right, bottom) in enumerate(boxes):
        for b, left2, top2, right2, bottom2 in boxes[i + 1 :]:
            if left < right2 - 0.5 and left2 < right - 0.5 and top < bottom2 - 0.5 and top2 < bottom - 0.5:
                yield f"'{a}' and '{b}'"


def labels_do_not_overlap(page, transactions):
    nodes = page.boxes(".graph .node > rect")
    labels = page.boxes(".graph .edge[role] text")
    assert len(nodes) >= transactions, f"expected {transactions} transactions, found {len(nodes)}"
    assert len(labels) >= transactions, f"expected {transactions} labels, found {len(labels)}"
    found = list(overlapping(nodes + labels))
    assert not found, f"{page.path.name}: expected no overlaps, found {found}"


def check_lost_update(driver):
    page = Page(driver, report("lost-update", HISTORIES["lost-update"]))
    labels_do_not_overlap(page, 3)
    # Hovering an arrow lights its two transactions and their operations on its key.
    edge = page.one(".graph .edge[role]")
    webdriver.ActionChains(driver).move_to_element(edge).perform()
    assert len(page.all(".graph .node.lit")) == 2
    assert all("x" in e.text for e in page.all(".graph text.op.lit")) and page.all(".graph text.op.lit")
    # An arrow opens its reason; the address leads back to it.
    page.press(".graph .edge[role]")
    reason = page.one(".inspector .reason").text
    assert "which" in reason and "overwrote" in reason, reason
    assert "It rests on:" in page.one(".inspector").text
    assert "edge=0" in page.address() and "why=0" in page.address(), page.address()
    linked = Page(driver, page.path, page.address())
    assert linked.one(".inspector .reason").text == reason
    linked.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
    assert not linked.shown(".inspector"), "Escape closes the inspector"
    # A transaction shows its neighbours on demand.
    before = len(page.all(".graph .node"))
    linked.press(".graph .node[data-txn='2']")
    linked.press(".inspector button.neighbours")
    assert len(linked.all(".graph .node")) > before, "neighbours are drawn"
    assert linked.all(".graph .node.near")
    # The filter counts, dims and finds.
    field = linked.one(".finder input")
    field.send_keys("key:y")
    assert linked.one(".finder .count").text.startswith("2 of the 6"), linked.one(".finder .count").text
    assert len(linked.all(".rows g.txn.dim")) + len(linked.all(".rows g.txn:not(.dim)")) == len(linked.all(".rows g.txn"))
    assert [b.text for b in linked.shown(".found button")] == ["T4", "T6"]
    field.clear()
    field.send_keys("session:s3 overnight")
    assert linked.one(".finder .count").text.startswith("0 of the 6")
    field.send_keys(Keys.ESCAPE)
    # The timeline: the whole run, and down to the operations in a bar.
    linked.press(".timeline button", "Whole run")
    assert len(linked.all(".rows g.txn")) == 6
    for _ in range(2):
        linked.press(".timeline button[aria-label='Zoom in']")
    assert linked.all(".rows g.txn rect.op"), "operations inside bars"
    zoomed = linked.address()
    assert "from=" in zoomed and "to=" in zoomed
    linked.one("svg.rows").send_keys(Keys.ARROW_RIGHT)
    assert linked.address() != zoomed, "arrow keys move"
    linked.one("svg.rows").send_keys("0")
    assert len(linked.all(".rows g.txn")) == 6
    assert linked.all(".strip .violation") and linked.all(".strip path.event")
    linked.is_quiet()


def check_twelve(driver):
    page = Page(driver, report("twelve", HISTORIES["twelve"], "--level", "serializable"))
    labels_do_not_overlap(page, 12)
    page.is_quiet()


def check_refuted(driver):
    page = Page(driver, report("refuted", HISTORIES["refuted"]))
    labels_do_not_overlap(page, 5)
    assert not page.all(".graph .arrow.refuted"), "what is refuted is not drawn as if it held"
    for i in range(len(page.all(".graph .edge[role]"))):
        page.driver.execute_script("document.querySelectorAll('.graph .edge[role]')[arguments[0]].dispatchEvent(new MouseEvent('click', {bubbles: true}))", i)
        if page.all(".graph .arrow.refuted"):
            break
    else:
        raise AssertionError("expected an arrow with a refuted alternative")
    assert "it cannot be that" in page.one(".inspector").text, page.one(".inspector").text
    labels_do_not_overlap(page, 5)
    page.picture("refuted-selected")
    page.is_quiet()


def check_register(driver):
    page = Page(driver, report("register", HISTORIES["register"], "--level", "linearizable"))
    assert len(page.all(".rows g.txn.rejected")) == 1
    assert len(page.all(".rows g.txn.accepted")) >= 6
    assert page.all(".rows path.prefix")
    page.is_quiet()


def check_satisfied(driver):
    page = Page(driver, report("satisfied", HISTORIES["satisfied"]))
    page.press(".player summary")
    page.press(".player button", "Next")
    page.press(".player button", "Next")
    assert page.one(".player .step").text.startswith("Step 2 of"), page.one(".player .step").text
    page.press(".player button", "Previous")
    assert page.one(".player .step").text.startswith("Step 1 of")
    page.press(".player button", "Play")
    page.wait_for(lambda: not page.one(".player .step").text.startswith("Step 1 of"))
    page.press(".player button", "Pause")
    assert "step=1" not in page.address().split("&"), page.address()
    end = Page(driver, page.path, "#step=20")
    held = end.one(".player .state").text
    assert "[0,1,2" in held and "x 20" in held, held
    end.picture("satisfied-played")
    end.is_quiet()


def check_hostile(driver):
    page = Page(driver, report("hostile", HISTORIES["hostile"]))
    assert driver.title.startswith("assay:"), driver.title
    assert page.all(".graph .node")
    page.is_quiet()


# A fault among hundreds of transactions, and what a reader who sees only the page must find in its sentences: the two operations that
# conflict, each with its transaction.
FAULTS = {
    "lost-update": ("session-si", ["--level", "serializable", "--seed", "911"], ["0-34 and 1-32 both read key 3 = 1014", "0-34 wrote 11, 1-32 wrote 22"]),
    "write-skew": ("serializable", ["--level", "serializable", "--seed", "912"],
                   ["1-35 read key 113 = 1390, which 0-35 overwrote with 11", "0-35 read key 462 = 383, which 1-35 overwrote with 22"]),
    "fractured-read": ("session-si", ["--level", "session-si", "--seed", "913", "--workload", "v-range-b:keys=20"],
                       ["1-40 read key 10 = 22, and then it read key 10 = 44 with range(9..19"]),
    "real-time-violation": ("strict-serializable", ["--level", "strict-serializable", "--seed", "914"],
                            ["0-34 had ended 1 ns before 1-33 began", "1-33 did not see 0-34's key 134 = 11", "It read key 134 = null"]),
    "causality-violation": ("session-si", ["--level", "serializable", "--seed", "915", "--workload", "list-append"],
                            ["2-35 depends on 0-35", "must see 0-35's append of 11 to key 5498, and did not", "It read key 5498 = []"]),
}


def check_sentences(driver):
    for fault, (level, drawn, expected) in FAULTS.items():
        history = subprocess.run([ASSAY, "generate", "--bug", fault, "--txns", "60", *drawn],
                                 capture_output=True, text=True, check=True).stdout
        page = Page(driver, report(f"fault-{fault}", history, "--level", level))
        seen = page.one("section .story").text
        for sentence in expected:
            assert sentence in seen, f"{fault}: expected '{sentence}' in '{seen}'"


def check_without_script(driver):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    page = Page(driver, FOLDER / "lost-update.html")
    text = page.one("main").text
    for expected in ("lost-update", "which T3 overwrote with 3", "On the clients’ clock" if "’" in text else "On the clients' clock"):
        assert expected in text, f"expected '{expected}' without script"
    assert len(page.shown("svg")) >= 3
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def check_large(driver):
    history = FOLDER / "large.jsonl"
    subprocess.run([ASSAY, "generate", "--level", "snapshot-isolation", "--bug", "lost-update", "--sessions", "20", "--txns", "1000",
                    "--workload", "general:keys=500", "-o", str(history)], check=True)
    page = FOLDER / "large.html"
    subprocess.run([ASSAY, "check", str(history), "--level", "snapshot-isolation", "--report", str(page)], stdout=subprocess.DEVNULL, check=False)
    assert page.stat().st_size < 5_000_000, page.stat().st_size
    opened = Page(driver, page)
    opened.press(".timeline button", "Whole run")
    assert "of the 2" in opened.one(".timeline figcaption").text
    opened.is_quiet()


# What PolySI published, in the corpus.
PUBLISHED = ("causal/polysi-long-fork", "prefix/polysi-galera", "serializable/polysi-yugabyte", "read-atomic/polysi-dgraph")


def drawn_histories():
    """Every built-in history, and PolySI's published cases."""
    corpus = pathlib.Path(__file__).resolve().parent.parent / "corpus"
    listed = subprocess.run([ASSAY, "demo"], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"^  ([a-z0-9-]+)  ", listed, re.M):
        yield f"demo-{name}", subprocess.run([ASSAY, "demo", name, "--history"], capture_output=True, text=True, check=True).stdout
    for name in PUBLISHED:
        yield name.split("/")[1], (corpus / f"{name}.hist").read_text()


def check_drawings(driver):
    for name, text in drawn_histories():
        page = Page(driver, report(name, text))
        labels_do_not_overlap(page, 0)
        page.is_quiet()
        page.picture(name)


def check_printed(driver):
    """Three violations on paper: nothing is wider than the page, and every sentence is on it."""
    names = ("lost-update", "twelve", "refuted")
    path = FOLDER / "printed.html"
    subprocess.run([ASSAY, "check", *(str(FOLDER / f"{name}.hist") for name in names), "--report", str(path)], stdout=subprocess.DEVNULL, check=False)
    page = Page(driver, path)
    told = [story.text for story in page.shown("section .story")]
    assert len(told) >= len(names), f"expected three violations, found {told}"
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    driver.set_window_size(720, 1000)  # A4 at 96 dots an inch, without its margins
    width = driver.execute_script("return window.innerWidth")
    for text, left, _, right, _ in page.boxes("section p, section li, section td, section svg"):
        assert left >= -1 and right <= width + 1, f"cut off on paper ({left} to {right} of {width}): {text[:80]}"
    assert [story.text for story in page.shown("section .story")] == told
    assert not page.shown("button"), "a button on paper"
    driver.set_window_size(1200, 1400)
    pdf = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    (FOLDER / "printed.pdf").write_bytes(pdf)
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert len(names) < pages < 8 * len(names), f"{pages} pages"


def check_narrow(driver):
    """As wide as a telephone and as a desk: nothing sticks out of the page, the conflict comes first, and what a picture says can be read."""
    for levels in ((), ("--level", "serializable")):
        path = report("rows", HISTORIES["rows"], *levels)
        for width in (500, 1400):
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
            page = Page(driver, path)
            needs, has = driver.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
            assert needs <= has, f"{needs} of {has} pixels at {width}"
            scale = driver.execute_script("const svg = document.querySelector('svg.graph'); return svg.getBoundingClientRect().width / svg.viewBox.baseVal.width")
            assert scale > 0.7, f"the picture is drawn at {scale} of its size at {width}"
            first = page.one("section .story" if levels else ".conflicts")
            assert first.location["y"] < page.one(".side").location["y"], f"the conflict stands below the lattice at {width}"
            assert "on PostgreSQL 15.7 at read committed" in page.one("main").text
            assert '{"on_call":' in first.text and "early shift" not in first.text, first.text
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


# Each way to order the writers closes a cycle of its own.
def check_cases(driver):
    history = subprocess.run([ASSAY, "generate", "--hard", "cnf:size=5,density=9", "--seed", "2"], capture_output=True, text=True, check=True).stdout
    page = Page(driver, report("cases", history, "--level", "session-serializable"))
    assert "3 cases, the first" in page.one("section .story").text
    assert page.one("details.cases").get_attribute("open") is None, "the cases are not folded"
    page.press("details.cases summary")
    assert page.one("details.cases").get_attribute("open") is not None
    assert len(page.shown("details.cases li")) == 4
    page.picture("cases")
    page.is_quiet()


def pictures(driver, shade):
    for name in [*HISTORIES, "large"]:
        Page(driver, FOLDER / f"{name}.html").picture(f"{name}-{shade}")


def main():
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        print("skipped: there is no chromium here (chromium, chromium-driver)")
        return 77
    FOLDER.mkdir(parents=True, exist_ok=True)
    driver = browser()
    try:
        for check in (check_lost_update, check_twelve, check_refuted, check_register, check_satisfied, check_hostile, check_sentences, check_without_script, check_large, check_drawings, check_cases, check_narrow, check_printed):
            check(driver)
            print("passed:", check.__name__)
        for shade in ("light", "dark"):
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": shade}]})
            pictures(driver, shade)
    finally:
        driver.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
