"""The three doors of the page, and what a door is made of: controls, and parts with words and pictures."""

import html
from collections.abc import Callable
from dataclasses import dataclass

from shufflelib.explorer import compare, error_picture, idea_pictures, pictures, plan, text, understand
from shufflelib.explorer.setting import ALL_PARAMETERS


@dataclass(frozen=True)
class Part:
    """One part of a door: words about a setting, and a picture with a caption below them.

    ``say`` takes a setting and a `Known` and returns HTML; without it the words are the picture's finding.
    A ``folded`` part is closed at first and computes nothing until it is opened.  The part with the answer
    has no ``title``.
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
    """One of the page's three views: ``name`` stands in the address, ``label`` and ``lead`` on the page.

    The names of its controls: those at the top, then those behind "More controls".
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
            "Bars: made-up true shares. Dots: twenty simulated surveys, errors are normal, "
            "with the chosen mechanism’s standard error at each share.",
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
            "the closer the black dots are to it, the less the reports reveal. Grey: no shuffler.",
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
            "The thick black line is certified: a step is the ε of its fewest users, which holds for more. "
            "Where ε is 0 it ends. No guarantee can lie in the grey area, because of an attack. "
            "In colour: landmarks of the literature, where they apply; grey lines: all others.",
        ),
        Part(
            "budgets",
            "Over local budgets",
            picture=pictures.OverBudgets(),
            caption="The same bounds as a function of the local budget, for the same number of users. "
            "Of what is certified only the computed points are drawn.",
        ),
        Part("bounds", "All bounds, and what they prove", text.bounds, folded=True),
        Part("compared", "All digits, and the Python code", understand.details, folded=True),
    ),
)
DOORS = {door.name: door for door in (PLAN, UNDERSTAND, COMPARE)}
