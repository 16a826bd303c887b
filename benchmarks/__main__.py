"""The command line of the benchmarks."""

import argparse
import sys
from pathlib import Path

from benchmarks import ALL, against, latency
from benchmarks.report import table, write
from benchmarks.runner import measure, to_stderr

HERE = Path(__file__).parent
parser = argparse.ArgumentParser(
    prog="python -m benchmarks", description="Measure cost, growth and agreement."
)
names = [*(one.name for one in ALL), latency.NAME]
parser.add_argument("names", nargs="*", metavar="name", help="which, of " + ", ".join(names))
parser.add_argument("--quick", action="store_true", help="tiny sizes, one turn: see that everything runs")
parser.add_argument("--output", metavar="FOLDER", help="for the results; by default beside the benchmarks")
parser.add_argument("--against", metavar="REF", help="compare with this commit, question by question")
given = parser.parse_args()
if given.against:
    rows = against.measure(given.against, quick=given.quick, say=to_stderr)
    print(against.table(rows), "largest moves to the worse side:", against.moved(rows), sep="\n")
    sys.exit()
if unknown := set(given.names) - set(names):
    parser.error(f"no benchmark is called {sorted(unknown)[0]}")
chosen = [one for one in ALL if not given.names or one.name in given.names]
folder = given.output or (None if given.names or given.quick else HERE)
rows = []
for one in chosen:  # a run that is stopped leaves what it has measured
    rows += measure(one, quick=given.quick, say=to_stderr)
    if folder:
        write(chosen, rows, folder)
if rows:
    print(table(rows))
if not given.names or latency.NAME in given.names:
    waited = latency.measure(quick=given.quick, say=to_stderr)
    if folder:
        latency.write(waited, folder)
    print(latency.table(waited))
sys.exit(any(row["agrees"] is False for row in rows))
