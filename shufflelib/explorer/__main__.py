"""Open the explorer in the browser: ``python -m shufflelib.explorer``."""

import argparse
import signal
import sys
import webbrowser

from shufflelib.numerics.optional import remedy


def main(words=None):
    """Serve the page until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m shufflelib.explorer", description=__doc__)
    parser.add_argument("--port", type=int, default=8866, help="where to listen on this machine; 0: any")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    options = parser.parse_args(words)
    try:
        with remedy("the pictures of the explorer need it: pip install matplotlib"):
            from shufflelib.explorer.server import Explorer
        explorer = Explorer(options.port)
    except ImportError as wrong:
        sys.exit(f"{parser.prog}: {wrong}")
    except (OSError, OverflowError) as wrong:
        reason = getattr(wrong, "strerror", None) or wrong
        sys.exit(f"{parser.prog}: cannot use port {options.port}: {reason}; --port 0 takes a free one")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # and end what was started
    with explorer as server:
        print(f"The explorer is at {server.address} (Ctrl-C ends it)", flush=True)
        if not options.no_browser:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
