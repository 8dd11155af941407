"""`python -m eyeroof …` and the installed `eyeroof`: the command line, in this process."""

import sys


def main() -> int:
    from . import _run_main

    try:
        return _run_main(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
