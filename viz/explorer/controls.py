"""Controls: a slider and a number field beside it, a menu, a table of one's own; help and complaint below."""

import html

import ipywidgets

from viz.explore import complaint, status
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

    ``write`` shows a value in the widgets.  What they report of it is the value itself, so nobody is told.
    """

    def __init__(self, name, changed, parts, help):
        self.name, self.changed, self.value = name, changed, None
        self.note = status()
        self._help = f'<span style="font-size: 0.85em; line-height: 1.2">{html.escape(help)}</span>'
        super().__init__([*parts, self.note], layout=SIZE)

    def show(self, value):
        """Show a value without telling anybody."""
        self.value = value
        self.write(value)
        self.note.value = self.help(value)

    def help(self, value):
        """Return what stands below the control, as HTML."""
        return self._help

    def take(self, value):
        """Show a value, and tell of it if it is new."""
        new = value != self.value
        self.show(value)
        if new:
            self.changed(self)

    def typed(self, change):
        """Take what somebody typed, or show why it is refused, and leave the text."""
        try:
            value = self.value if change.new == self.text_of(self.value) else self.read(change.new)
        except ValueError as error:
            self.refuse(error)
        else:
            self.take(value)

    def refuse(self, error):
        """Show an error beside the control that caused it."""
        self.note.value = words.alert(complaint(error))


class Number(Control):
    """A slider over stops, and beside it a field that takes any number."""

    def __init__(self, name, changed):
        field = FIELDS[name]
        self.stops, self.text_of = field.stops, shown
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
        self.text.observe(self.typed, names="value")

    def write(self, value):
        """Show a value in both."""
        self.text.value, self.slider.index = shown(value), self._nearest(value)

    def read(self, text):
        """Return the number of a text that a setting may have."""
        value = number(self.name, text)
        Setting(**{self.name: value})
        return value

    def _nearest(self, value):
        return min(range(len(self.stops)), key=lambda at: abs(self.stops[at] - value))

    def _slid(self, change):
        if change.new != self._nearest(self.value):
            self.take(self.stops[change.new])


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
        self.text.observe(self.typed, names="value")
        self.file.observe(self._uploaded, names="value")

    def text_of(self, value):
        """Return a table with its rows below each other."""
        return value if "\n" in value else value.replace(";", "\n")

    def write(self, value):
        """Show a table."""
        self.text.value = self.text_of(value)

    def help(self, value):
        """Return the size of a table, and what it means."""
        return f"{html.escape(matrix_in_words(value))}. {self._help}"

    def read(self, text):
        """Return a text that holds a table."""
        Setting(mechanism="from_pmf", matrix=text)
        return text

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
