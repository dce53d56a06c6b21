"""Prefix extension with a hash function for each report, the rival of discovery."""

import numpy as np

from research.rivals.prefix_extension import all_hashed, extended, supported, words


def test_two_prefixes_share_a_bucket_as_often_as_by_chance() -> None:
    """In 200,000 functions the share has a standard error of 0.0003; five of these are beyond chance (1e-6)."""
    functions = np.random.default_rng(0).integers(0, 2**32, 200_000, dtype=np.uint32)
    first, second = words(np.array([1, 2], np.uint64) << np.uint64(56))
    buckets = [all_hashed(np.full(len(functions), word), functions) // np.uint32(2**32 // 56) for word in (first, second)]
    assert abs(float(np.mean(buckets[0] == buckets[1])) - 1 / 56) < 5 * 0.0003


def test_support_is_counted_report_by_report() -> None:
    random = np.random.default_rng(1)
    functions, starts = (random.integers(0, 2**32, 50, dtype=np.uint32) for _ in range(2))
    candidates, width = words(random.integers(0, 2**64, 7, dtype=np.uint64)), np.uint32(2**30)
    counted = [
        int(((all_hashed(np.full(50, candidate), functions) - starts).astype(np.uint32) < width).sum())
        for candidate in candidates
    ]
    assert supported(candidates, functions, starts, width).tolist() == counted


def test_frequent_keys_are_found_without_noise() -> None:
    random = np.random.default_rng(2)
    keys = random.integers(0, 2**64, 2000, dtype=np.uint64)
    answers = np.concatenate([np.repeat(keys[:3], [4000, 3000, 2000]), keys[3:]])
    assert extended(answers, 8.0, 3, random)[:3] == keys[:3].tolist()
