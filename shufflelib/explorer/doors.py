"""The three doors of the page, and what a door is made of: controls, and parts with words and pictures."""

import html
from collections.abc import Callable
from dataclasses import dataclass

from shufflelib.explorer import compare, error_picture, idea_pictures, pictures, plan, text, understand
from shufflelib.explorer.setting import ALL_PARAMETERS


@dataclass(frozen=True)
class Part:
    """One part: words about a setting, maybe with a picture.

    Parameters
    ----------
    name : str
        Its identifier on the page.
    title : str
        Heading; empty for the answer at the top.
    say : callable, optional
        Takes a setting and a `Known`, and returns HTML; by default the finding of the picture.
    picture : Picture, optional
        Shown below the words.
    caption : str
        How to read the picture.
    folded : bool
        Whether the part is closed at first; closed parts ask nothing.
    controls : tuple of str
        Controls that stand in the part.
    """

    name: str
    title: str
    say: Callable | None = None
    picture: object = None
    caption: str = ""
    folded: bool = False
    controls: tuple = ()

    def words(self, setting, known):
        """Return the words as HTML."""
        if self.say is not None:
            return self.say(setting, known)
        if self.picture.headed:
            return ""
        return f'<p class="finding">{html.escape(self.picture.finding(setting, known))}</p>'


@dataclass(frozen=True)
class Door:
    """One of the page's three doors.

    Parameters
    ----------
    name, label : str
        In the address, and on the page.
    lead : str
        What it is for, in one sentence.
    controls : tuple of str
        Controls at the top, then those behind "more".
    more : tuple of str
        Controls that few people need.
    parts : tuple of Part
        From the top down, the answer first.
    """

    name: str
    label: str
    lead: str
    controls: tuple
    more: tuple
    parts: tuple

    def shown(self, setting):
        """Return the names of the controls that change something for a setting."""
        unused = ALL_PARAMETERS - set(setting.parameters)
        if "task" in self.controls:
            unused = unused - {"d"} if setting.task == "histogram" else unused | {"d"}
        names = [*self.controls, *self.more, *(name for part in self.parts for name in part.controls)]
        return [name for name in names if name not in unused]


PLAN = Door(
    "plan",
    "Plan",
    "Choose a guarantee: which mechanism meets it, and how large is the error?",
    ("task", "d", "n", "eps", "delta"),
    ("rounds", "rate", "dropout"),
    (
        Part(
            "plan",
            "",
            plan.answer,
            idea_pictures.Outcomes(),
            "Bars: made-up true values. Dots: twenty simulated surveys with the chosen mechanism.",
        ),
        Part("table", "All mechanisms at this guarantee", plan.table),
        Part("chosen", "", plan.detail, idea_pictures.Errors()),
        Part(
            "deploy",
            "One mechanism: how large may ε₀ be, how few users are enough?",
            text.deploy,
            error_picture.Error(),
            folded=True,
            controls=("mechanism", "matrix", "sigma", "eps0"),
        ),
    ),
)
UNDERSTAND = Door(
    "understand",
    "Understand",
    "Choose a mechanism, or enter your own, and a number of users: what does the guarantee mean?",
    ("mechanism", "matrix", "d", "sigma", "eps0", "n", "delta", "fpr"),
    ("rounds", "rate"),
    (
        Part(
            "worlds",
            "",
            understand.answer,
            idea_pictures.Worlds(),
            "Solid: the distribution of what the analyst counts. Dashed: the same if you held another value, "
            "multiplied by e<sup>ε</sup>. Filled, below: the excess, enlarged. "
            "The analyst knows everybody else’s value. One round is drawn.",
        ),
        Part(
            "crowd",
            "The crowd that hides you",
            picture=idea_pictures.Crowd(),
            caption="Randomising makes other people’s reports look like yours. "
            "After shuffling nobody can tell which of them is yours.",
        ),
        Part(
            "tests",
            "False alarms against misses",
            picture=pictures.TradeOff(),
            caption="Every attack trades false alarms against misses. The dotted line is random guessing; "
            "the closer the black line is to it, the less the reports reveal. Grey: no shuffler.",
        ),
        Part("digits", "All digits, and the Python code", understand.details, folded=True),
        Part("renyi", "Rényi divergence", text.renyi, pictures.Renyi(), folded=True, controls=("order",)),
    ),
)
COMPARE = Door(
    "compare",
    "Compare",
    "Compare what is proved here with the bounds of the literature.",
    ("mechanism", "matrix", "d", "sigma", "eps0", "n", "delta"),
    ("rounds", "rate"),
    (
        Part(
            "users",
            "",
            compare.answer,
            pictures.OverUsers(),
            "Black: certified. No guarantee can lie in the grey area, because an attack attains its edge. "
            "In colour: landmarks of the literature, where they apply; grey lines: all others.",
        ),
        Part(
            "budgets",
            "Over local budgets",
            picture=pictures.OverBudgets(),
            caption="The same bounds as a function of the local budget, for the same number of users.",
        ),
        Part("bounds", "All bounds, and what they prove", text.bounds, folded=True),
        Part("compared", "All digits, and the Python code", understand.details, folded=True),
    ),
)
DOORS = {door.name: door for door in (PLAN, UNDERSTAND, COMPARE)}
