"""Three ways in: *Understand* one guarantee, *Plan* for a target, *Compare* bounds and two settings."""

import html

import ipywidgets

import viz
from shufflelib import record, registry
from shufflelib.calibration.tasks import TASKS
from shufflelib.profiles import cautions
from viz.explore import complaint, image, status
from viz.explorer import pictures, words
from viz.files import embedded

NAMES = {name: one.name for task in TASKS.values() for name, one in task.candidates.items()}
BESIDE = {"flex_flow": "row wrap", "align_items": "flex-start"}
OWN = ("mechanism", "matrix", "d", "sigma", "eps0", "n", "delta")


def name(row):
    """Return the name of a plan's mechanism, as a heading.

    Examples
    --------
    >>> from viz.explorer.doors import name
    >>> name({"mechanism": "subset"})
    'Subset selection'
    """
    said = NAMES[row["mechanism"]]
    return said[0].upper() + said[1:]


def code(*lines):
    """Return lines to take away."""
    how = "white-space: pre-wrap; overflow-wrap: anywhere; user-select: all; line-height: 1.4"
    return "".join(f'<pre style="{how}" tabindex="0">{html.escape(line)}</pre>' for line in lines)


def download(words, file, text):
    """Return a link that saves a text as a file.

    Examples
    --------
    >>> from viz.explorer.doors import download
    >>> download("numbers", "a.csv", "x,y")
    '<a download="a.csv" href="data:text/csv;base64,eCx5">numbers</a>'
    """
    address = embedded(text.encode(), f"text/{file.rsplit('.')[-1]}")
    return f'<a download="{file}" href="{address}">{words}</a>'


class Door:
    """What one door shows: an answer in words, a picture, and what is folded.

    Class attributes: ``title``; the names of its ``controls``; ``needs``, the questions it asks, the first
    number first; ``folds``, the titles of what is folded.
    """

    folds = ("Proof and assumptions", "Take it away: Python, shell, CSV, record")
    first = "epsilon"

    def __init__(self):
        self.answer, self.more, self.picture = status(), ipywidgets.HTML(), ipywidgets.HTML()
        self.answer.add_class("viz-answer")
        self.folded = [ipywidgets.HTML() for _ in self.folds]
        self.record, self.written = ipywidgets.Button(description="A record to publish"), ipywidgets.HTML()
        self.record.on_click(lambda _: self._record())
        folded = [*self.folded[:-1], ipywidgets.VBox([self.folded[-1], self.record, self.written])]
        self.accordion = ipywidgets.Accordion(folded, titles=self.folds)
        self.said = [self.answer, self.more]  # beside the picture
        self.late = [self.more, self.picture, self.folded[-1], self.written]  # not filled by the first number
        self.current = None

    def shown(self):
        """Return the door as a widget: words, the picture beside them where there is room, what is folded."""
        said = ipywidgets.VBox(self.said, layout={"flex": "1 1 20em", "min_width": "0", "max_width": "36em"})
        return ipywidgets.VBox([ipywidgets.HBox([said, self.picture], layout=BESIDE), self.accordion])

    def clear(self, why):
        """Take every answer away, and say why."""
        for part in (self.more, self.picture, *self.folded, self.written):
            part.value = ""
        self.answer.value, self.current = why, None

    def clear_late(self):
        """Take away what comes after the first number."""
        for part in self.late:
            part.value = ""

    def write(self, setting, known):
        """Show what is known of a setting: answers by the name of their question, or errors."""
        for ask in self.needs:
            if isinstance(known.get(ask), Exception):
                refused = f"No number: {complaint(known[ask])}. Nothing is proved here."
                self.clear(words.alert(refused.replace("..", ".")))
                return
        self.current = setting, known
        self.say(setting, known)

    def recorded(self):
        """Return the record of what is shown."""
        setting, _ = self.current
        return record(setting.profile(), delta=setting.delta)

    def _record(self):
        if self.current is None:
            return
        try:
            text = registry.to_yaml(self.recorded())
        except Exception as error:  # whatever it is, no record must stand under another setting
            self.written.value = words.alert(complaint(error))
        else:
            self.written.value = download("The record as YAML", "record.yaml", text) + code(text)

    def draw(self, drawn, take_away):
        """Show axes, and their numbers among what is taken away."""
        ax, headline, frame = drawn
        self.picture.value = image(pictures.png(ax), headline, round(92 * ax.figure.get_figwidth()))
        numbers = frame.to_csv(index=False, float_format="%.12g")
        link = download("The picture’s numbers as CSV", f"{self.title.lower()}.csv", numbers)
        self.folded[-1].value, self.written.value = take_away + link, ""


class Understand(Door):
    """What one mechanism's guarantee means."""

    title = "Understand"
    controls = (*OWN, "fpr", "rounds", "rate")
    needs = ("epsilon", "missed")

    def __init__(self):
        super().__init__()
        self.attacker = pictures.Attacker()

    def say(self, setting, known):
        """Give ε, then the attacker's share and its picture."""
        found = known["epsilon"]
        self.answer.value = words.guarantee(setting, found)
        self.folded[0].value = words.proof(setting, found)
        if "missed" in known:
            self.more.value = words.attacker(setting, known["missed"])
            take = code(f"from shufflelib import randomizers, shuffle\n{setting.python}", setting.shell)
            self.draw(self.attacker.draw(setting, found, known["missed"]), take)


class Plan(Door):
    """Which mechanism meets a target with the smallest error."""

    title = "Plan"
    controls = ("task", "d", "n", "eps", "delta", "rounds", "rate", "dropout")
    needs = ("plan",)
    first = "plan"
    folds = ("One mechanism in detail", "All mechanisms", Door.folds[-1])

    def __init__(self):
        super().__init__()
        self.menu = ipywidgets.Dropdown(description="mechanism", style={"description_width": "6.2em"})
        self.detail = self.folded[0]
        self.accordion.children = [ipywidgets.VBox([self.menu, self.detail]), *self.accordion.children[1:]]
        self.menu.observe(lambda _: self.open(), names="value")

    def say(self, setting, known):
        """Give the smallest error, then all."""
        found = known["plan"]
        self.answer.value = words.plan(setting, found, name)
        self.folded[1].value = words.plans(found, name)
        rows, before = {name(row): row["mechanism"] for row in found}, self.menu.value
        self.menu.options = list(rows.items())
        self.menu.value = before if before in rows.values() else found[0]["mechanism"]
        self.open()
        if found[0]["standard error"] > cautions.USELESS:
            self.clear_late()
        else:
            self.draw(pictures.plan(setting, found, name), code(found[0]["python"], shell(setting)))

    def open(self):
        """Show the mechanism that the menu names."""
        if self.current is None:
            return
        setting, found = self.current[0], self.current[1]["plan"]
        row = found[self.row()]
        self.written.value = ""
        says = f"<p>A statement to publish (select it to copy):</p>{code(row['sentence'])}"
        self.detail.value = (
            words.alert(row["warning"]) + words.facts(setting, row) + says + code(row["python"])
        )

    def row(self):
        """Return the place of the mechanism that the menu names."""
        names = [row["mechanism"] for row in self.current[1]["plan"]]
        return names.index(self.menu.value) if self.menu.value in names else 0

    def recorded(self):
        """Return the record of the mechanism that the menu names, at the target."""
        setting, known = self.current
        return record(known["plan"].profile(self.row()), delta=setting.delta, eps=setting.eps)


def shell(setting):
    """Return the command that recommends the same."""
    names = {key: one for key, one in setting.target.items() if one != {"rounds": 1, "rate": 1.0}.get(key)}
    return "shufflelib recommend " + " ".join(f"--{key} {one}" for key, one in names.items() if one)


def comparison(setting):
    """Return the line of Python that compares all bounds."""
    imports = "from shufflelib import randomizers\nfrom shufflelib.published import comparison"
    return f"{imports}\ncomparison.compare({setting.made}, n={setting.n}, delta={setting.delta})"


class Compare(Door):
    """The guarantee beside the bounds of the literature, and beside that of another setting."""

    title = "Compare"
    controls = (*OWN, "rounds", "rate")
    folds = ("All bounds, and what they prove", *Door.folds)

    def __init__(self):
        super().__init__()
        label = "Keep this setting beside the next"
        self.keep = ipywidgets.Button(description=label, layout={"width": "auto"})
        self.keep.on_click(lambda _: self._keep())
        self.kept, self.now, self.both = None, None, ipywidgets.HTML()
        self.late.append(self.folded[0])
        self.said = [self.answer, self.keep, self.both, self.more]

    needs = ("epsilon", "bounds")

    def say(self, setting, known):
        """Give ε, then the bounds of the literature."""
        found, self.now = known["epsilon"], (setting, known["epsilon"])
        self.answer.value = words.guarantee(setting, found)
        self.folded[1].value = words.proof(setting, found)
        self._beside()
        if "bounds" in known:
            self.more.value = words.best_published(known["bounds"])
            self.folded[0].value = words.bounds(known["bounds"])
            take = code(comparison(setting), setting.shell)
            self.draw(pictures.bounds(setting, known["bounds"]), take)
        elif not setting.one_round:
            self.clear_late()
            self.more.value = "<p>The published bounds are for one round in which everybody reports.</p>"

    def _keep(self):
        self.kept = self.now
        self._beside()

    def _beside(self):
        if self.kept is None or self.now is None:
            return
        pair = self.kept, self.now
        rows = [
            ("Setting", *(html.escape(str(one.randomizer())) for one, _ in pair)),
            ("Users", *(f"{one.n:,}" for one, _ in pair)),
            ("Rounds", *(f"{one.rounds:,}" for one, _ in pair)),
            ("δ", *(viz.digits(one.delta) for one, _ in pair)),
            ("ε at most", *(f"<b>{words.rounded(found.upper, up=True)}</b>" for _, found in pair)),
            ("Without a shuffler", *(words.rounded(one.alone, up=True) for one, _ in pair)),
        ]
        self.both.value = words.table(("", "kept", "now"), rows)


DOORS = (Understand, Plan, Compare)
