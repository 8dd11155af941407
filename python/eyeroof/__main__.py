"""`python -m eyeroof …` and the installed `eyeroof`: the command line as this process."""

import signal
import sys


def main() -> int:
    from ._eyeroof import main as run

    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as of other programs: `eyeroof … | head` ends in silence
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
