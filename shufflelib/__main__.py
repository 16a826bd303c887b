"""Run ``python -m shufflelib``."""

import sys

from shufflelib.cli import main

sys.exit(main())
