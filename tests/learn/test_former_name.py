"""Programs that import the learners from where they used to be still run, and hear where they are now."""

import pytest

import deniable_learn


def test_the_former_name_works_and_says_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match="deniable.learning is now deniable_learn"):
        from deniable.learning import PrivateSGDClassifier
    assert PrivateSGDClassifier is deniable_learn.PrivateSGDClassifier
