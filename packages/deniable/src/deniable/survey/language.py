"""The language that the questions of a survey are written in."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.survey.reading import Section

_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")


def read_language(about: "Section") -> str | None:
    """The code of the language, such as "de" or "pt-BR"; None if the survey does not say."""
    if "language" not in about.data:
        return None
    code = about.text("language")
    if not _CODE.fullmatch(code):
        about.refuse("language", 'language must be the code of a language, such as "en", "de" or "pt-BR".')
    return code
