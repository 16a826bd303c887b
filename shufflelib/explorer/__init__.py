"""The explorer: one page on which every control moves every number.

A `Setting` holds the controls' values, `questions` compute numbers from it, a `QuestionQueue` sends them to
other processes, `text` and `pictures` show the answers so far.

>>> from shufflelib.explorer import Setting
>>> setting = Setting.from_query("n=1000&d=10&delta=1e-6")
>>> setting.profile
'shuffle(randomizers.generalized_rr(eps0=1.0, d=10), n=1000)'
"""

from shufflelib.explorer.mechanisms import MECHANISMS, Mechanism
from shufflelib.explorer.question_queue import QuestionQueue
from shufflelib.explorer.setting import Setting
