"""The three doors of the page."""

from shufflelib.explorer import compare, error_picture, idea_pictures, pictures, plan, text, understand
from shufflelib.explorer.parts import Door, Part

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
            plan.asks,
        ),
        Part("table", "All mechanisms at this guarantee", plan.table, asks=plan.asks),
        Part("chosen", "", plan.detail, idea_pictures.Errors(), asks=plan.asks),
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
            "Blue: the distribution of what the analyst counts. Orange: the same if you held another value, "
            "multiplied by e<sup>ε</sup>. "
            "The analyst knows everybody else’s value. Red, below: the excess, enlarged.",
            understand.asks,
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
        Part(
            "digits",
            "All digits, and the Python code",
            understand.details,
            asks=understand.asks,
            folded=True,
        ),
        Part(
            "renyi", "Rényi divergence", understand.renyi, pictures.Renyi(), folded=True, controls=("order",)
        ),
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
            compare.asks,
        ),
        Part(
            "budgets",
            "Over local budgets",
            picture=pictures.OverBudgets(),
            caption="The same bounds as a function of the local budget, for the same number of users.",
        ),
        Part("bounds", "All bounds, and what they prove", compare.everything, asks=compare.asks, folded=True),
        Part("compared", "All digits, and the Python code", compare.digits, asks=compare.asks, folded=True),
    ),
)
DOORS = {door.name: door for door in (PLAN, UNDERSTAND, COMPARE)}
