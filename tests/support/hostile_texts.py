"""Texts that try to be more than text, for Hypothesis."""

from hypothesis import settings
from hypothesis import strategies as st

TEXTS = (
    "<script>document.title='taken'</script>", "</pre></article><img src=x onerror=alert(1)>", "{{ 7*7 }}{% raw %}",
    "=HYPERLINK(\"http://a.b\")", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1", "nan", "-Infinity", "NULL",
    "\x1b[2J\x1b]0;taken\x07", "\x00\x08\x0b", "\ud800", "\udfff\ud800", "\ufffe\uffff", "\u202eevil\u2066", "]]>",
    "```\n# taken\n```", "~~~", "# taken", "* taken", "1. taken", "---", "===", "> taken", "[x](javascript:alert(1))",
    "![x](http://a.b)", "https://a.b", "www.a.b", "<http://a.b>", "&lt;b&gt;", "$\\frac{1}{2}$", "| a | b |", "a\nb",
    "\\", "\\*", "_a_", "**a**", "a\u2028b\u0085c", "\U000e0041", "-rf", "../../x", "x" * 5000, "`" * 20, '"', "a;=1",
)  # fmt: skip
ANY = st.characters(codec=None)  # lone surrogates among them
texts = st.one_of(
    st.sampled_from(TEXTS),
    st.lists(st.one_of(st.sampled_from(TEXTS), ANY), max_size=5).map("".join),
    st.text(ANY, max_size=40),
)
quick = settings(max_examples=60, deadline=None)
