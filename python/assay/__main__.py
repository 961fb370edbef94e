"""The program, as `assay` on the PATH and as `python -m assay`: the one that lies in this package."""

from __future__ import annotations

import os
import sys

from ._program import program


def main() -> None:
    try:
        path = program()
    except FileNotFoundError as error:
        sys.exit(f"assay: {error}")
    os.execv(path, ["assay", *sys.argv[1:]])


if __name__ == "__main__":
    main()
