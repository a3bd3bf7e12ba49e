"""Reads only the questions of studies, for lists of studies. Reading all studies completely would take ten times as
long."""

from pathlib import Path

from h123.study.yaml_document import YamlDocument


def question_of(path: Path) -> str:
    """Return the question of the study in this file. Validates the rest of the file only if the question is missing or
    malformed. Raises UserError."""
    question = YamlDocument(path).data.get("question")
    if isinstance(question, str) and question:
        return question
    from h123.study.reader import load_study

    return load_study(path).question
