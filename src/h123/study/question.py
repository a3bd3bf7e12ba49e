"""What studies ask, for a list of them: reading all of them whole would take ten times as long."""

from pathlib import Path

from h123.study.yaml_document import YamlDocument


def question_of(path: Path) -> str:
    """What the study in this file asks; the rest of it is looked at only if that cannot be told. Raises UserError."""
    question = YamlDocument(path).data.get("question")
    if isinstance(question, str) and question:
        return question
    from h123.study.reader import load_study

    return load_study(path).question
