"""pytest looks for no tests among the attacks: it would run the conftest.py of one, and import its torch.py after."""

collect_ignore = ["files"]
