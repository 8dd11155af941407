"""The pages that eyeroof writes, in a headless browser: no error on the console, tables sort, what
lies under the pointer has its tooltip, pictures zoom and move, the roofline's slider, filter, levels and a click on a row do what they say, a
picture is saved. Each page is as wide as a laptop and as a phone, light and dark, has text of a contrast of 4.5 at least,
and prints on at most three sheets.

browser.py EYEROOF [FOLDER FOR SCREENSHOTS]; ends with 77 where there is no browser to drive.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    print("0 passed, 0 failed, 1 skipped: no playwright")
    sys.exit(77)
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
if not BROWSER:
    print("0 passed, 0 failed, 1 skipped: no chromium")
    sys.exit(77)

SAMPLES = pathlib.Path(__file__).resolve().parents[1] / "profiles" / "samples"
PAGES = {
    "exam": "exam resnet50 --on a100-sxm-40gb --format html",
    "exams": "exam alexnet --on t4 --on l4 --format html",
    "roofline": "roofline resnet50 --batch 64 --on a100-sxm-40gb --on v100-sxm2-16gb",
    "upgrade": "upgrade resnet50 --from t4 --to l4 --details --format html",
    "sheet": "upgrade resnet50 --from t4 --count 16 --to l4@2.5k --to l40s --format html",
    "diff": "diff resnet50@t4 resnet50@l4 --format html",
    "runs": f"diff {SAMPLES}/kineto.json {SAMPLES}/rocprof_kernel_trace.csv --format html",
    "scale": "scale resnet50 --on a100-sxm-80gb --fabric dgx-a100-hdr --format html",
    "timeline": "timeline alexnet --on a100-sxm-40gb --format html",
    "bound": "bound resnet50 --on a100-sxm-40gb --format html",
    "memory": "memory resnet50 --on a100-sxm-40gb --format html",
    "improve": "improve resnet50 --on a100-sxm-40gb --format html",
    "serve": "serve llama3-8b --on h100-sxm-80gb --format html",
    "map": "map alexnet --layers CONV3 --on eyeriss-v1 --format html",
    "fuse": "fuse resnet50 --on npu-int8 --format html",
    "sweep": "sweep alexnet --on npu-int8 --vary batch=1,2,4 --format html",
    "validate": "validate --machines --on eyeriss-v1 --format html",
    "trace": f"exam {SAMPLES}/kineto.json --format html",
}
passed, failed = 0, 0


def check(what, holds):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print("FAILED:", what, file=sys.stderr)


def column(page, table, index):
    return table.locator("tr").evaluate_all(
        "(rows, i) => rows.slice(1).filter(r => !r.hidden).map(r => r.cells[i].textContent.trim())", index)


PREFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
NUMBER = re.compile(r"([-+]?[\d.]+(?:e[-+]?\d+)?)(?: ([numkMGT]?)(?:s|J|B|op|%|MAC|FLOP|))?$")


def number(text):
    """What a cell says, None where it is not one number with its unit."""
    parts = NUMBER.fullmatch(text)
    return parts and float(parts[1]) * PREFIXES[parts[2] or ""]


def sorts(page, name, wanted):
    """Every column of numbers goes down at a click and up at Enter; `wanted` is one of them."""
    table = page.locator("table.sort").filter(has_text=wanted).first
    heads = table.locator("tr").first.locator("th")
    tried = []
    for index, heading in enumerate(h.strip() for h in heads.all_text_contents()):
        before = [number(t) for t in column(page, table, index)]
        if None in before or len(set(before)) < 2:
            continue
        tried.append(heading)
        heads.nth(index).click()
        down = [number(t) for t in column(page, table, index)]
        check(f"{name}: {heading} goes down", down == sorted(before, reverse=True))
        heads.nth(index).press("Enter")
        up = [number(t) for t in column(page, table, index)]
        check(f"{name}: {heading} goes up", up == sorted(before))
    check(f"{name}: {wanted} is among the columns of numbers {tried}", wanted in tried)


def roofline(page):
    section = page.locator("section").first
    rows = lambda: len(column(page, section.locator("table"), 0))
    marks = lambda: section.locator("svg .p").evaluate_all(
        "marks => marks.filter(m => m.style.display !== 'none').length")
    all_rows, all_marks = rows(), marks()
    check("roofline: has rows and marks", all_rows > 10 and all_marks > 10)
    page.locator("#share").evaluate("s => { s.value = 1; s.dispatchEvent(new Event('input')); }")
    shares = [number(t) for t in column(page, section.locator("table"), 6)]
    check("roofline: the slider hides small shares", 0 < len(shares) < all_rows and min(shares) >= 0.95)
    check("roofline: and their marks", marks() < all_marks)
    page.locator("#share").evaluate("s => { s.value = 0; s.dispatchEvent(new Event('input')); }")
    page.locator("#filter").fill("conv1")
    check("roofline: the filter leaves its rows",
          all("conv1" in n for n in column(page, section.locator("table"), 0)) and rows() < all_rows)
    page.locator("#filter").fill("")
    check("roofline: and brings all back", rows() == all_rows and marks() == all_marks)
    section.locator("table tr:visible").nth(3).click()
    dim = section.locator("svg .p").evaluate_all("marks => marks.filter(m => m.style.opacity === '0.1').length")
    check("roofline: a click on a row leaves its points alone", 0 < dim < all_marks)
    section.locator("table tr:visible").nth(3).click()
    levels = page.locator("#level option").count()
    check("roofline: there are levels to choose from", levels > 1)
    page.locator("#level").select_option(index=levels - 1)
    check("roofline: another level is another picture",
          page.locator("section:visible").count() == 1 and not section.is_visible())
    page.locator("#level").select_option(index=0)


def zooms(page, name):
    """Buttons, a double click, and a drag change what part of the picture is seen."""
    svg = page.locator("figure svg:visible").first
    seen = lambda: [float(v) for v in svg.get_attribute("viewBox").split()]
    press = lambda text: page.locator(".tools:visible").first.get_by_text(text, exact=True).click()
    whole = seen()
    press("+")
    near = seen()
    check(f"{name}: + shows half as much", abs(near[2] - whole[2] / 2) < 1e-6 * whole[2])
    box = svg.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    check(f"{name}: a drag to the left shows what is right", seen()[0] > near[0] and seen()[2] == near[2])
    svg.dblclick()
    check(f"{name}: a double click zooms in", seen()[2] < near[2])
    press("Whole picture")
    check(f"{name}: and all is shown again", all(abs(a - b) < 1e-6 * whole[2] for a, b in zip(seen(), whole)))


def trace(page):
    """A trace's timeline, roofline and table select one another; zoom, move and search."""
    wide = lambda: page.evaluate("to - from")
    line, first = page.locator("#line"), page.locator(".ops tr[data-row]").first
    picked = lambda: page.evaluate("picked")
    marked = lambda where: page.locator(where).count()
    whole = wide()
    line.focus()
    line.press("+")
    check("trace: + narrows the timeline", wide() < whole)
    narrow, start = wide(), page.evaluate("from")
    line.press("ArrowRight")
    check("trace: an arrow moves it", page.evaluate("from") > start and abs(wide() - narrow) < 1e-6)
    line.press("Home")
    check("trace: Home shows the whole step", wide() == whole and page.evaluate("from") == 0)
    line.hover()
    page.mouse.wheel(0, -200)
    page.wait_for_function("to - from < T.total_us")
    check("trace: the wheel zooms", wide() < whole)
    line.dblclick()
    check("trace: a double click shows the whole step", wide() == whole)
    page.evaluate("pick(-1)")
    first.click()
    row = int(first.get_attribute("data-row"))
    check("trace: a click on a row selects it", picked() == row and marked(".ops tr.on") == 1)
    check("trace: and its point", marked("#roofs circle.on") <= 1 and marked("#roofs circle.dim") >= 1)
    check("trace: and says what it is",
          page.evaluate("T.rows[picked].name") in page.locator("#said").inner_text())
    first.click()
    check("trace: a second click lets it go", picked() == -1 and marked(".ops tr.on") == 0)
    if marked("#roofs circle"):
        page.locator("#roofs circle").last.dispatch_event("click")
        check("trace: a point selects its row", picked() >= 0 and marked(".ops tr.on") == 1)
        page.evaluate("pick(picked)")
    longest = page.evaluate("""(() => { const l = T.launches.reduce((a, b) => b[2] > a[2] ? b : a);
        const scale = box.clientWidth / (to - from);
        return [(l[1] + l[2] / 2 - from) * scale, top0 + lane * l[3] + 6, l[0]]; })()""")
    line.click(position={"x": longest[0], "y": longest[1]})
    check("trace: a launch selects its row", picked() == longest[2])
    page.evaluate("pick(-1)")
    name = page.evaluate("T.rows[0].name")
    page.locator("#find").fill(name)
    check("trace: the search leaves its rows", 0 < marked(".ops tr[data-row]:not(.off)")
          < marked(".ops tr[data-row]"))
    page.locator("#find").press("Enter")
    said = page.locator("#said").inner_text()
    check(f"trace: Enter goes to the hit, and not {said!r}", wide() <= whole and name in said)
    page.locator("#find").fill("")
    check("trace: and brings all back", marked(".ops tr.off") == 0)


# Texts of the tooltips that a browser shows over the middle of each mark: of the topmost element there.
TIPS = """marks => marks.map(mark => {
    mark.scrollIntoView({block: 'center'});
    const box = mark.getBoundingClientRect();
    const under = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const title = under && under.querySelector(':scope > title');
    return title ? title.textContent : ''; })"""


# The least contrast of any text against the background that it stands on, with that text.
CONTRAST = """() => {
    const parts = c => (c.match(/[\\d.]+/g) || []).map(Number);
    const light = c => { const [r, g, b] = c.slice(0, 3).map(v => v / 255)
        .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b; };
    const behind = e => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
        if (c.length === 3 || c[3] > .5) return c; } return [255, 255, 255]; };
    let worst = [99, ''];
    for (const e of document.querySelectorAll('h1,h2,h3,p,li,th,td,a,summary,label')) {
        if (!e.checkVisibility() || !e.textContent.trim()) continue;
        const [a, b] = [light(parts(getComputedStyle(e).color)), light(behind(e))];
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < worst[0]) worst = [ratio, e.textContent.trim().slice(0, 40)];
    }
    return worst; }"""


def looks(browser, path, name, shots):
    """Width and contrast on a laptop and a phone, light and dark; sheets of paper."""
    for screen, width, height, scheme in (("laptop", 1280, 800, "light"), ("dark", 1280, 800, "dark"),
                                          ("phone", 390, 844, "light")):
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(path.as_uri())
        wide = page.evaluate("document.documentElement.scrollWidth")
        check(f"{name}: is {wide} px wide on a {screen} of {width}", wide <= width)
        ratio, text = page.evaluate(CONTRAST)
        check(f"{name}: contrast {ratio:.2f} of '{text}' on a {screen}", ratio >= 4.5)
        if shots:
            page.screenshot(path=pathlib.Path(shots) / f"{name}-{screen}.png")
        page.close()
    page = browser.new_page()
    page.goto(path.as_uri())
    sheets = len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format="A4")))
    most = 6 if name in ("upgrade", "diff", "runs", "roofline", "trace") else 3  # all layers; two whole traces or machines
    check(f"{name}: prints on {sheets} sheets", sheets <= most)
    page.close()


def tooltips(page, name, marks, word):
    tips = page.locator("svg:visible").first.locator(marks).evaluate_all(TIPS)
    check(f"{name}: {len(tips)} marks, each with a tooltip under the pointer", tips and all(tips))
    check(f"{name}: the tooltips tell {word}", tips and all(word in tip for tip in tips))


def main(eyeroof, shots):
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        for name, command in PAGES.items():
            path = pathlib.Path(folder) / f"{name}.html"
            subprocess.run([eyeroof, *command.split(), "-o", path], check=True)
            page = browser.new_page(viewport={"width": 1200, "height": 900})
            errors = []
            page.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
            page.on("pageerror", lambda e: errors.append(str(e)))
            page.on("request", lambda r: errors.append(r.url) if r.url.startswith("http") else None)
            page.goto(path.as_uri())
            if name == "roofline":
                roofline(page)
                tooltips(page, name, ".p", "FLOP/B")
            if name == "trace":
                trace(page)
            if name in ("roofline", "timeline", "exam"):
                zooms(page, name)
            for where, marks, word in (("diff", "rect", "step"), ("upgrade", "rect", "before"),
                                       ("scale", "path", "devices"), ("timeline", "rect", "us")):
                if name == where:
                    tooltips(page, name, f"{marks}:has(> title)", word)
            if name == "upgrade":  # a line of the terminal's text each
                lines = page.locator(".behind li").all_inner_texts()
                check(f"{name}: its text has lines", len(lines) > 5 and not any("? " in t for t in lines))
            heading = {"exam": "time", "diff": "adds", "runs": "adds", "roofline": "time",
                       "upgrade": "share", "scale": "devices"}.get(name)
            if heading:
                sorts(page, name, heading)
            if page.locator("button.png:visible").count():
                with page.expect_download() as download:
                    page.locator("button.png:visible").first.click()
                check(f"{name}: saves a PNG",
                      pathlib.Path(download.value.path()).read_bytes().startswith(b"\x89PNG"))
            if name == "sheet":  # the page that is signed: one sheet of either paper
                for paper in ("A4", "Letter"):
                    pages = re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format=paper))
                    check(f"{name}: prints on one page of {paper}: {len(pages)}", len(pages) == 1)
            check(f"{name}: nothing on the console: {errors}", not errors)
            page.close()
            looks(browser, path, name, shots)
        browser.close()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
