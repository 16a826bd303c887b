"""What command lines print: their help and their answers, and the status where these cannot be written."""

import argparse
import io
import os
import sys


class Parser(argparse.ArgumentParser):
    """A parser that fails where its help cannot be written: argparse passes over that."""

    def _print_message(self, message, file=None):
        if file is sys.stderr:
            super()._print_message(message, file)
        else:
            print(message, end="", file=file, flush=True)


def replace_unprintable():
    """Print a question mark for a character that a stream cannot encode, such as ε."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def unwritten(wrong, program):
    """Return the status after an answer could not be written, and leave nothing to write at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(wrong, BrokenPipeError):  # whoever read it has seen enough
        return 0
    print(f"{program}: cannot write the answer: {wrong.strerror}", file=sys.stderr)
    return 2
