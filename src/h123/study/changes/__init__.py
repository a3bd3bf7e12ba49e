"""Changes the access link as a trial's parameters require."""

__all__ = ["single_loss"]
