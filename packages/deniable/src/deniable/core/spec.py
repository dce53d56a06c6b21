"""Plain data: what JSON holds, as mechanisms and domains write it about themselves and read it again."""

from collections.abc import Mapping
from typing import Any

Spec = Mapping[str, Any]  # numbers, words, truth values, lists and mappings of them; whoever reads it checks what it is
