"""What is judged in a process of its own is judged as in this one: the same record, but for times.

Each run compares some implementations of all kinds; --in-full all adapters, and an eighth of the submissions.
"""

import os

import drawn
import pytest
from apart import differences
from judged_submissions import FOLDER, submissions

from attnconf.conformance.engine.catalogue import adapter_names

ADAPTERS = ["torch_sdpa:math", "coordinate_modules", "tokenizers_library"]
FILES = [  # functions, modules, a notebook, dicts of weights, NumPy's arrays; texts, ids and masks; of all verdicts
    "right/att_copy_task.ipynb", "right/att_functional_params.py", "right/emb_scaled.py", "right/lay_char_tokenizer.py",
    "right/norm_memory_numpy.py", "right/pos_rope_table_object.py", "wrong/ff_neighbours.py", "wrong/norm_in_place.py",
]  # fmt: skip
pytestmark = pytest.mark.skipif(os.name != "posix", reason="--isolate needs sockets and sessions of POSIX systems")


def pytest_generate_tests(metafunc):
    in_full = metafunc.config.getoption("--in-full")
    files = [s.file for s in submissions() if drawn.today(s.file, drawn.AGAIN)] if in_full else FILES
    metafunc.parametrize("name", [*(adapter_names() if in_full else ADAPTERS), *(str(FOLDER / file) for file in files)],
                         ids=lambda name: name.rpartition("submissions/")[2])  # fmt: skip


@pytest.mark.usefixtures("as_a_user")
def test_the_same_is_found_in_a_process_of_its_own(name):
    assert differences(name) == []
