"""A few damaged tables; `python tests/cli/mutated_tables.py` makes 10⁵."""

import pytest
from mutated_tables import check, clean, hammer, learn, read


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_what_is_whole_is_learned(tmp_path, kind):
    path = tmp_path / f"t.{kind}"
    path.write_bytes(clean(kind))
    assert check(path, tmp_path / "m.colk") == 0


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_damaged_tables(tmp_path, kind):
    models = hammer(20, 1, tmp_path, (kind,))
    assert 0 < models < 20
    assert models <= hammer(20, 1, tmp_path, (kind,), use=read)
    assert models <= hammer(20, 1, tmp_path, (kind,), use=learn)
