"""Download MNIST: ``python -m shufflelib.sgd.datasets``."""

import sys

from shufflelib.sgd.datasets.mnist_files import FILES, download_mnist, mnist_folder


def main():
    """Download what is missing; return 0, or 1 after one line about the error."""
    try:
        fetched = download_mnist()
    except (OSError, ValueError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; the next run continues with the file at which this one stopped", file=sys.stderr)
        return 130
    print(f"{mnist_folder()}: all {len(FILES)} files checked, {len(fetched)} of them downloaded now")
    return 0


if __name__ == "__main__":
    sys.exit(main())
