"""The specification as a site in a real browser: search, keys, folded places, phone width, light and dark."""

import re

import pytest

SEEN = [  # of each kind of page one
    ("index", 1280, "light"),
    ("packed_sequences", 390, "dark"),
    ("choices", 1280, "dark"),
    ("public-code", 390, "light"),
]


def serious(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"preload": False}).response["violations"]  # which would read the style anew
    return [(f["id"], f["nodes"][0]["html"]) for f in found if f["impact"] in ("serious", "critical")]


@pytest.mark.parametrize(("name", "width", "scheme"), SEEN)
def test_axe_has_no_serious_findings_and_nothing_is_wider_than_the_page(opened, spec_site, name, width, scheme):
    page = opened(spec_site / f"{name}.html", width, scheme, bypass_csp=True)  # axe sets styles
    page.evaluate("[...document.querySelectorAll('details')].slice(0, 16).forEach((d) => { d.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(page) == []


@pytest.mark.parametrize("name", ["encoder", "rotary", "relative_bias", "attention_family", "kill-matrix"])
def test_no_page_is_wider_than_a_phone(opened, spec_site, name):
    page = opened(spec_site / f"{name}.html", 390)
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_search_finds_requirements_mistakes_and_sections(opened, spec_site):
    page = opened(spec_site / "index.html", bypass_csp=True)
    page.keyboard.press("/")
    page.keyboard.type("att-scale-1")
    assert page.locator("#found a").first.inner_text().startswith("ATT-SCALE-1")
    page.fill("#search", "not divided by √E")
    assert "ATT-unscaled" in page.locator("#found").inner_text()
    assert serious(page) == []
    page.fill("#search", "nothing of this sort")
    assert page.locator("#found").inner_text() == "nothing found"
    page.fill("#search", "att-scale-1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/attention.html#att-scale-1")
    assert page.locator("#att-scale-1").bounding_box()["y"] < 200


def test_a_requirement_opens_to_its_check_by_the_keyboard(opened, spec_site):
    page = opened(spec_site / "attention.html")
    section = page.locator("#att-scale-1")
    assert not section.locator(".check pre").is_visible()
    section.locator(".check summary").focus()
    page.keyboard.press("Enter")
    assert '@requirement("ATT-SCALE-1"' in section.locator(".check pre").inner_text()


def test_an_address_opens_what_is_folded(opened, spec_site):
    page = opened(spec_site / "attention.html")
    page.locator("#att-scale-1 .mistakes summary").click()
    page.click('#att-scale-1 a:text-is("ATT-unscaled")')
    page.wait_for_url("**/kill-matrix.html#ATT-unscaled")
    assert page.locator("#ATT-unscaled").is_visible()


def test_a_verdict_leads_to_what_the_gallery_says(opened, spec_site):
    page = opened(spec_site / "masks.html")
    page.locator("#mask-nan-1 .verdicts summary").click()
    page.click('#mask-nan-1 .verdicts bdi:text-is("torch_nn")')
    page.wait_for_selector("dialog[open]")
    assert page.locator("#dialog-title").inner_text() == "MASK-NAN-1: torch_nn"
    page.locator('dialog a[href="masks.html#mask-nan-1"]').first.click()
    page.wait_for_url("**/masks.html#mask-nan-1")


def test_the_pages_fold_on_a_phone(opened, spec_site):
    page = opened(spec_site / "attention.html", 390)
    link = page.locator("nav.chapters a", has_text=re.compile("^Masks$"))
    assert not link.is_visible()
    page.locator("nav.chapters summary").click()
    link.click()
    page.wait_for_url("**/masks.html")


def test_without_scripts_the_pages_can_be_read(opened, spec_site):
    page = opened(spec_site / "attention.html", java_script_enabled=False)
    assert not page.locator("#search").is_visible()
    assert page.locator("nav.chapters a", has_text=re.compile("^Masks$")).is_visible()
    assert page.locator("#att-scale-1 .sentence").is_visible()
