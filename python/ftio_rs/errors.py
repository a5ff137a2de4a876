"""What can go wrong. All of it is an FtioError; some of it is also an exception that Python has anyway."""


class FtioError(Exception):
    """An input cannot be used, or the `ftio` command has failed. The text names the input and the place."""


class FtioNotFoundError(FtioError, FileNotFoundError):
    """An input does not exist."""


class FtioSystemError(FtioError, OSError):
    """An input cannot be read, or an output cannot be written."""


class FtioValueError(FtioError, ValueError):
    """An argument makes no sense."""


class FtioInternalError(FtioError, RuntimeError):
    """A defect of this module. Please report it with its text."""


class FtioWarning(UserWarning):
    """Something of an input could not be used; the rest was."""
