"""Controls: a slider and a number field beside it, a menu, a table of one's own; help and complaint below."""

import html

import ipywidgets

from viz.explore import complaint
from viz.explorer import words
from viz.explorer.setting import FIELDS, MENUS, Setting, matrix_in_words, number

SIZE = {"margin": "0 0 0.3em 0", "width": "25em", "max_width": "100%", "overflow": "hidden"}
NARROW = {"description_width": "6.2em"}


def shown(value):
    """Write a number as its field shows it.

    Examples
    --------
    >>> from viz.explorer.controls import shown
    >>> shown(1_000_000), shown(10**12), shown(0.1)
    ('1,000,000', '1e+12', '0.1')
    """
    return f"{value:,}" if isinstance(value, int) and value < 10**7 else f"{value:.10g}"


class Control(ipywidgets.VBox):
    """One value of a `Setting`; ``changed`` is called when it moves.

    ``refuse`` shows why a text was not taken, and leaves the text.
    """

    def __init__(self, name, changed, parts, help):
        self.name, self.changed, self.value, self._telling = name, changed, None, True
        self.note = ipywidgets.HTML()
        self.note.add_class("viz-status")
        self._help = f'<span style="font-size: 0.85em; line-height: 1.2">{html.escape(help)}</span>'
        super().__init__([*parts, self.note], layout=SIZE)

    def show(self, value):
        """Show a value without telling anybody."""
        self._telling, self.value = False, value
        self.write(value)
        self._telling = True
        self.note.value = self._help

    def take(self, value):
        """Tell of a new value, unless it is only shown."""
        if self._telling and value != self.value:
            self.value = value
            self.note.value = self._help
            self.changed(self)

    def refuse(self, error):
        """Show an error beside the control that caused it."""
        self.note.value = words.alert(complaint(error))


class Number(Control):
    """A slider over stops, and beside it a field that takes any number."""

    def __init__(self, name, changed):
        field = FIELDS[name]
        options = [(shown(stop), stop) for stop in field.stops]
        width = {"width": "auto", "flex": "1 1 auto"}
        self.slider = ipywidgets.SelectionSlider(
            options=options, description=field.label, readout=False, layout=width, style=NARROW
        )
        self.text = ipywidgets.Text(
            continuous_update=False, tooltip=f"{field.label}, number", layout={"width": "6.5em"}
        )
        super().__init__(name, changed, [ipywidgets.HBox([self.slider, self.text])], field.help)
        self.slider.observe(self._slid, names="index")
        self.text.observe(self._typed, names="value")

    def write(self, value):
        """Show a value in both."""
        stops = FIELDS[self.name].stops
        self.text.value = shown(value)
        self.slider.index = min(range(len(stops)), key=lambda at: abs(stops[at] - value))

    def _slid(self, change):
        if self._telling:
            value = FIELDS[self.name].stops[change.new]
            self._telling, self.text.value = False, shown(value)
            self._telling = True
            self.take(value)

    def _typed(self, change):
        if not self._telling:
            return
        try:
            value = number(self.name, change.new)
            Setting(**{self.name: value})
        except ValueError as error:
            self.refuse(error)
            return
        new = value != self.value
        before = self.value
        self.show(value)
        if new:
            self.value = before
            self.take(value)


class Menu(Control):
    """A menu of names."""

    def __init__(self, name, changed):
        options = [(getattr(one, "text", one), key) for key, one in MENUS[name].items()]
        what = {"mechanism": "mechanism", "task": "estimate"}[name]
        self.menu = ipywidgets.Dropdown(
            options=options, description=what, layout={"width": "auto"}, style=NARROW
        )
        help = {"mechanism": "How each device randomises its value.", "task": "What the reports are for."}
        super().__init__(name, changed, [self.menu], help[name])
        self.menu.observe(lambda change: self.take(change.new), names="value")

    def write(self, value):
        """Show a value."""
        self.menu.value = value


class OwnTable(Control):
    """A table of probabilities, typed, pasted or from a file."""

    def __init__(self, name, changed):
        self.text = ipywidgets.Textarea(
            description="table", rows=4, continuous_update=False, layout={"width": "auto"}, style=NARROW
        )
        self.file = ipywidgets.FileUpload(description="from a file", accept=".csv,.txt,.tsv")
        help = "A row of chances of each report, for each value that a user may hold."
        super().__init__(name, changed, [self.text, self.file], help)
        self.text.observe(self._typed, names="value")
        self.file.observe(self._uploaded, names="value")

    def write(self, value):
        """Show a table, and its size."""
        self.text.value = value if "\n" in value else value.replace(";", "\n")

    def show(self, value):
        """Show a table without telling anybody."""
        super().show(value)
        self.note.value = f"{matrix_in_words(value)}. {self._help}"

    def _typed(self, change):
        if not self._telling:
            return
        try:
            said = matrix_in_words(change.new)
            Setting(mechanism="from_pmf", matrix=change.new)
        except ValueError as error:
            self.refuse(error)
        else:
            self.take(change.new)
            self.note.value = f"{html.escape(said)}. {self._help}"

    def _uploaded(self, change):
        for one in change.new:
            try:
                self.text.value = bytes(one["content"]).decode("utf-8-sig")
            except UnicodeDecodeError:
                self.refuse(ValueError("the file must hold text with numbers; save it as CSV"))


def controls(changed):
    """Return all controls by name.

    Examples
    --------
    >>> from viz.explorer.controls import controls
    >>> moved = []
    >>> all_ = controls(moved.append)
    >>> all_["n"].show(10_000)
    >>> all_["n"].text.value = "50k"
    >>> moved[0].value, all_["n"].text.value
    (50000, '50,000')
    """
    return {
        **{name: Menu(name, changed) for name in MENUS},
        **{name: Number(name, changed) for name in FIELDS},
        "matrix": OwnTable("matrix", changed),
    }
