"""The explorer: a panel in a notebook on which every control moves every number.

A `Setting` holds the controls' values.  `questions` are calls of the package, answered here or, where that
takes seconds, by a `Worker`.  `doors` show the answers in `words` and `pictures`.

>>> from viz.explorer import Setting, explorer
>>> panel = explorer(Setting(n=1000))
>>> panel.said("Understand").count("ε ≤")
1
"""

from viz.explorer.panel import Explorer, explorer
from viz.explorer.questions import Question
from viz.explorer.setting import MECHANISMS, Setting
