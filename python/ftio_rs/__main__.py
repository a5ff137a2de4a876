"""`python -m ftio_rs` is the `ftio` command."""

import os
import sys

from .errors import FtioError
from .program import find_ftio


def main() -> None:
    """Become the command."""
    try:
        command = find_ftio()
    except FtioError as problem:
        sys.exit(f"ftio_rs: {problem}")
    os.execv(command, ["ftio", *sys.argv[1:]])


if __name__ == "__main__":
    main()
