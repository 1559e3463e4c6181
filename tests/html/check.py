"""Reads pages in a browser: the examples, tools that try everything, and a thousand tools of servers that exist."""

import contextlib
import pathlib
import sys

from playwright.sync_api import sync_playwright

FOLDER, CHROMIUM = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
PHONE = {"width": 390, "height": 844}
n_checked = 0


@contextlib.contextmanager
def opened(browser, name, address="", **options):
    """A page that must say nothing on the console and ask for nothing but itself."""
    global n_checked
    context = browser.new_context(**options)
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{FOLDER}/{name}.html{address}")
    yield page
    assert complaints == [], complaints
    asked = [url for url in asked if not url.startswith("data:")]
    assert all(url.startswith(f"file://{FOLDER}/{name}.html") for url in asked), asked
    context.close()
    n_checked += 1


def listed(page):
    page.wait_for_timeout(100)
    return page.eval_on_selector_all("article", "all => all.map(one => one.id)")


def fits(page):
    """Nothing is wider than the page."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def examples(browser):
    with opened(browser, "examples") as page:
        everything = listed(page)
        assert len(everything) > 20 and fits(page)

        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.type") == "search"
        page.keyboard.type("shift dates")
        assert listed(page)[0] == "dates:shift_date" and len(listed(page)) < len(everything)
        assert f"of {len(everything)} tools" in page.inner_text("[role=status]")
        assert page.eval_on_selector_all("nav li", "all => all.length") == len(listed(page))
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.hash") == "#dates:shift_date"

        page.keyboard.press("/")
        page.keyboard.type("xylophone")
        assert listed(page) == [] and "No tool says that." in page.inner_text("main")
        page.keyboard.press("Escape")
        assert listed(page) == everything
        assert page.eval_on_selector_all("nav li", "all => all.length") == len(everything)

        page.click("article .badge >> text=read-only >> nth=0")
        reading = listed(page)
        assert 0 < len(reading) < len(everything)
        assert page.input_value("input") == "is:read-only" and "q=is" in page.url

    # A search can be sent to somebody; and so can a tool, whatever was searched for.
    with opened(browser, "examples", "?q=is:read-only") as page:
        assert listed(page) == reading
        away = next(one for one in everything if one not in reading)
        page.evaluate(f"location.hash = '{away}'")
        assert listed(page) == everything
        assert page.locator(f"[id='{away}']").is_visible()

    with opened(browser, "examples", "#math:add") as page:
        page.wait_for_timeout(200)
        assert page.evaluate("Math.abs(document.getElementById('math:add').getBoundingClientRect().top) < innerHeight / 2")
        assert page.get_attribute("nav a[href='#math:add']", "aria-current") == "true"

    with opened(browser, "examples", java_script_enabled=False) as page:
        assert not page.locator("input").is_visible()
        assert page.locator("[id='math:add'] h3").is_visible()
        assert page.locator("[id='math:add'] table").first.is_visible()

    with opened(browser, "examples", viewport=PHONE) as page:
        assert fits(page) and page.locator("input").is_visible()

    def paper(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    with opened(browser, "examples", color_scheme="light") as light, opened(browser, "examples", color_scheme="dark") as dark:
        assert paper(light) == "rgb(255, 255, 255)" and paper(dark) != paper(light)

    with opened(browser, "examples") as page:
        page.emulate_media(media="print")
        assert not page.locator("nav").is_visible() and page.locator("[id='math:add'] h3").is_visible()


def hostile(browser):
    for options in [{}, {"viewport": PHONE}, {"java_script_enabled": False}]:
        with opened(browser, "hostile", **options) as page:
            assert page.title() == "hostile"
            assert fits(page)
            page.wait_for_timeout(200)
            assert len(page.query_selector_all("body script, img, iframe, article h1, svg, base")) == 0
    with opened(browser, "hostile") as page:
        page.fill("input", "evil.example")
        assert 0 < len(listed(page)) < 22
        for article in page.query_selector_all("article"):
            for details in article.query_selector_all("details"):
                details.evaluate("one => { one.open = true; }")
        assert fits(page)


def large(browser):
    with opened(browser, "large") as page:
        n_tools = len(listed(page))
        if n_tools == 0:
            return
        assert n_tools > 1000
        page.fill("input", "create issue")
        first = listed(page)[0]
        assert first.endswith(":create_issue"), first
        page.fill("input", "e")
        assert len(listed(page)) == 50 and "the best 50 shown" in page.inner_text("[role=status]")
        page.fill("input", "")
        assert len(listed(page)) == n_tools


with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    examples(browser)
    hostile(browser)
    large(browser)
    browser.close()

print(f"{n_checked} passed, 0 failed")
