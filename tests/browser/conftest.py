"""A real browser: Chromium of the system's packages. Without it these tests are skipped, which the gate forbids."""

import os
import shutil

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def chromium():
    """Return the browser. It keeps an event loop running, which tests of other modules must not find."""
    if CHROMIUM is None:
        pytest.skip("NO BROWSER: install Chromium (apt-get install chromium), or nothing here is tested")
    from playwright.sync_api import sync_playwright

    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # root cannot have one
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium):
    """Return a function that opens a file; in the end the console is empty, and nothing was asked of a network."""
    contexts, said, asked = [], [], []

    def opened(path, width=1280, scheme="light", **options):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith("file:")] == []
