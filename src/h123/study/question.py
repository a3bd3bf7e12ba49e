"""The questions of studies, for a list of them. Reading all studies completely would take ten times as long."""

from pathlib import Path

from h123.study.yaml_document import YamlDocument


def question_of(path: Path) -> str:
    """The question of the study in this file. It reads the whole file only if the question is not found otherwise.
    Raises UserError."""
    question = YamlDocument(path).data.get("question")
    if isinstance(question, str) and question:
        return question
    from h123.study.reader import load_study

    return load_study(path).question
