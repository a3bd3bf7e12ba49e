"""The one exception that is shown to a person instead of a traceback."""


class UserError(Exception):
    """Something the person at the keyboard can mend.

    `message` says what is wrong and where; `remedy`, if any, what to do about it. `status` is the process's exit
    status: 2 for bad input, 3 for a machine that lacks something, 1 for the rest.
    """

    def __init__(self, message: str, remedy: str | None = None, status: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.status = status


class Interrupted(Exception):
    """By whoever was watching, who has been told how to go on."""
