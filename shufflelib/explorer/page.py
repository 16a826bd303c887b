"""The page: controls that change one `Setting`, and panels that show what is known about it."""

import asyncio
import html
import math

import ipywidgets
import traitlets

from shufflelib.explorer import pictures, question_queue, text
from shufflelib.explorer.mechanisms import MECHANISMS
from shufflelib.explorer.setting import Setting

SPACING = 0.3  # seconds between two redrawings while answers come in
HEAD_START = 0.1  # seconds that a new picture has to reach the browser before the other work begins
PAUSE = 0.05  # seconds between two of the other pictures
OPTIONS = [*range(2, 11), 12, 16, 20, 24, 32, 48, 64, 100, 128, 256, 512, 1000, 1024, 2048, 4096]
BUDGETS = [0.01, 0.02, 0.05, *(k / 10 for k in range(1, 40)), *(k / 2 for k in range(8, 21))]
ORDERS = [1.01, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0]
ORDERS += [192.0, 256.0]

STYLE = """<style>
.explorer {max-width: 100%; font-size: 15px; line-height: 1.45; color: #111;}
.explorer .widget-html-content, .explorer p {line-height: 1.45; overflow-wrap: anywhere; margin: .3em 0;}
.explorer img {width: 100%; height: auto; max-width: 600px; object-fit: contain;}
.explorer .widget-inline-hbox .widget-label {width: 8.5em; min-width: 8.5em; text-align: left;}
.explorer .panel {border: 1px solid #bbb; border-radius: 4px; padding: 10px; overflow: hidden; min-width: 0;}
.explorer .python {display: block; user-select: all; overflow-wrap: anywhere; white-space: pre-wrap;
  background: #f3f3f3; padding: 4px 6px; font-size: 12px;}
.explorer .failure {color: #8a1c00; font-weight: 600;}
.explorer .bounds {overflow-x: auto; max-width: 100%;}
.explorer table {border-collapse: collapse; font-size: 12.5px; width: 100%;}
.explorer td, .explorer th {text-align: left; vertical-align: top; padding: 1px 6px 1px 0;}
.explorer .swatch {display: inline-block; width: 22px; vertical-align: middle;}
.explorer td:nth-child(2) {white-space: nowrap;}
.explorer h1 {font-size: 1.5em; margin: .2em 0;}
.explorer h2 {font-size: 1.15em; margin: .2em 0;}
.explorer :focus-visible, .explorer .noUi-handle:focus {
  outline: 3px solid #0072b2 !important; outline-offset: 2px;}
</style>"""


class Page:
    """The explorer as widgets; ``Page(...).widget`` is what to display.

    Parameters
    ----------
    query : str
        A link's query, such as ``n=1000&eps0=2``; a bad one is answered by a sentence.
    answers : QuestionQueue, optional
        Who answers; by default two other processes.
    """

    def __init__(self, query="", *, answers=None):
        self.queue = answers or question_queue.QuestionQueue(question_queue.Process)
        self.queue.callback = self._callback
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None
        self.setting, self._asked, self._due, self._busy = Setting(), None, False, False
        self._last = self.setting  # what the controls go back to after something that cannot be shown
        self._left, self._step = [], None
        self._build()
        self.message = ipywidgets.HTML()
        self._place(Setting())
        self.read(query)
        self._send_again(1.0)

    def _build(self):
        menu = [(mechanism.text, name) for name, mechanism in MECHANISMS.items()]
        steps = {
            "d": ("options d", OPTIONS),
            "sigma": ("noise σ", _decades(-1, 1, (1, 1.5, 2, 3, 5, 7))),
            "eps0": ("local ε₀", BUDGETS),
            "n": ("users n", _decades(2, 12, (1, 1.3, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8))),
            "delta": ("δ", _decades(-12, -1, (1, 2, 5))),
            "rounds": ("rounds", _decades(0, 6, (1, 2, 3, 5, 7))),
            "rate": ("sampling rate", _decades(-6, 0, (1, 2, 3, 5, 7))),
            "fpr": ("false alarms", [k / 100 for k in range(101)]),
            "order": ("order λ", ORDERS),
            "eps": ("target ε", _decades(-6, 1, (1, 1.5, 2, 3, 5, 7))),
        }
        self.controls = {"mechanism": ipywidgets.Dropdown(options=menu)}
        self.controls |= {name: Steps(*words, self._keep) for name, words in steps.items()}
        self.controls["mechanism"].description = "mechanism"
        self.controls["mechanism"].style.description_width = "8.5em"
        for name, control in self.controls.items():
            control.layout.width = "calc(100% - 6px)"
            control.layout.max_width = "36em"
            control.observe(lambda change, name=name: self._moved(name, change["new"]), names="value")
        self.link = ipywidgets.Text(description="setting", continuous_update=False)
        self.link.style.description_width = "8.5em"
        self.link.layout.width = "calc(100% - 6px)"
        self.link.observe(lambda change: self._typed(change["new"]), names="value")
        self.anchor, self.situation = ipywidgets.HTML(), ipywidgets.HTML()
        self.button = ipywidgets.Button(description="Look for ε₀ and users", layout={"width": "auto"})
        self.button.on_click(lambda _: self._press())
        self.panels = self._panels()
        for panel in self.panels:
            panel.shown.observe(lambda _: self.refresh(), names="value")

    def _panels(self):
        self.more = ipywidgets.Button(
            description="Compute curves of composed rounds (minutes)", layout={"width": "auto"}
        )
        self.more.on_click(lambda _: self._press())
        return [
            _Panel(
                "1. Central ε: every bound",
                [pictures.OverUsers(), pictures.OverBudgets()],
                text.epsilon,
                more=text.bounds,
            ),
            _Panel(
                "2. What an attacker sees",
                [pictures.TradeOff()],
                lambda setting, known: text.tradeoff(setting, known, asked=self._begun(setting)),
                self.controls["fpr"],
            ),
            _Panel(
                "3. Rényi divergence",
                [pictures.Renyi()],
                lambda setting, known: text.renyi(setting, known, asked=self._begun(setting)),
                self.controls["order"],
            ),
            _Panel(
                "4. What should I deploy?",
                [pictures.Error()],
                lambda setting, known: text.deploy(setting, known, asked=self._asked == setting),
                self.controls["eps"],
                self.button,
            ),
        ]

    @property
    def widget(self):
        """All of it, to be displayed."""
        shared = [control for name, control in self.controls.items() if name not in ("fpr", "order", "eps")]
        panels = _grid([panel.widget for panel in self.panels], "12px")
        head = ipywidgets.HTML(f"{STYLE}<h1>Privacy of shuffled reports</h1>")
        page = ipywidgets.VBox(
            [
                head,
                _grid(shared, "0 24px"),
                self.link,
                self.anchor,
                self.message,
                self.situation,
                self.more,
                panels,
            ]
        )
        page.add_class("explorer")
        return page

    def read(self, query):
        """Restore the setting of a link, or say what is wrong with it and show nothing."""
        try:
            setting = Setting.from_query(query)
        except (ValueError, TypeError) as wrong:
            self._busy = True  # the text is what is to be corrected
            self.link.value = query
            self._busy = False
            self._refuse(wrong)
        else:
            self._take(setting)

    def _refuse(self, wrong):
        self.setting = None
        self.more.layout.display = "none"
        self.queue.want([])
        for panel in self.panels:
            panel.blank()
        self.anchor.value = self.situation.value = ""
        self.message.value = (
            f'<p class="failure message" role="alert">This cannot be shown: {html.escape(str(wrong))}. '
            "Correct it, or move a control to go back.</p>"
        )

    def _place(self, setting):
        """Move every control to a setting, without asking anything."""
        self._busy = True
        try:
            for name, control in self.controls.items():
                value = getattr(setting, name)
                control.place(value) if isinstance(control, Steps) else setattr(control, "value", value)
            self.link.value = setting.query
        finally:
            self._busy = False

    def _take(self, setting):
        self.setting = None  # until every control shows it
        self._place(setting)
        self.setting = self._last = setting
        self.refresh()
        self.message.value = ""
        used = MECHANISMS[setting.mechanism].parameters
        for name in ("d", "sigma", "eps0"):
            self.controls[name].layout.display = None if name in used else "none"
        self.more.layout.display = None if setting.rounds > 1 else "none"
        self.anchor.value = f'<a class="link" href="?{html.escape(setting.query)}">Link to this setting</a>'
        self.situation.value = text.situation(setting)

    def _moved(self, name, value):
        if self._busy:
            return
        try:
            setting = self._last.but(**{name: value})
        except (ValueError, TypeError) as wrong:
            self._keep(wrong)
        else:
            self._take(setting)

    def _keep(self, wrong):
        """Say what is wrong with one control, and go back to what the page shows."""
        self._place(self._last)
        words = f"{html.escape(str(wrong))}. The page keeps what it shows."
        self.message.value = f'<p class="failure message" role="alert">{words}</p>'

    def _begun(self, setting):
        """Whether the curves of a setting are asked for: at once for one round, else after a button."""
        return setting.rounds == 1 or self._asked == setting

    def _typed(self, query):
        if not self._busy:
            self.read(query)

    def _press(self):
        self._asked = self.setting
        self.refresh()

    def wanted(self):
        """Return the questions of the panels that are shown, numbers before curves."""
        shown = [picture for panel in self.panels if panel.shown.value for picture in panel.pictures]
        asked = [one for one in shown if self._asked == self.setting or not one.waits(self.setting)]
        numbers = [question for one in asked for question in one.numbers(self.setting)]
        return numbers + [question for one in asked for question in one.points(self.setting)]

    def refresh(self):
        """Show what is known, ask what is wanted: the first picture at once, the rest after a head start."""
        if self.setting is None:
            return
        if self._loop is None:
            self.queue.want(self.wanted())
        shown = [(panel, picture) for panel in self.panels if panel.shown.value for picture in panel.pictures]
        self._left = list(dict.fromkeys(one for one in self._left + shown if one in shown))
        if shown:
            self._draw(shown[0])
        for panel in self.panels:
            panel.say(self.setting, self.queue.get)
        self._later(HEAD_START, self._ask)

    def _ask(self):
        if self.setting is not None:
            self.queue.want(self.wanted())
            self._draw_next()

    def _draw_next(self):
        """Draw one picture; the next one a little later, so that a key pressed meanwhile comes first."""
        if self._left and self.setting is not None:
            self._draw(self._left[0])
            self._later(PAUSE, self._draw_next)

    def _draw(self, one):
        self._left.remove(one)
        panel, picture = one
        panel.draw(picture, self.setting, self.queue.get)

    def _later(self, seconds, step):
        """Take a step later instead of the one that was to come, or at once where no loop runs."""
        if self._loop is None:
            step()
            return
        if self._step is not None:
            self._step.cancel()
        self._step = self._loop.call_later(seconds, step)

    def _callback(self):
        if self._loop is None or self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._soon)

    def _send_again(self, seconds):
        """Repeat what is shown after 1, 2, 4, … 64 s: a browser that is loading misses what changes then."""
        if self._loop is None or seconds > 64.0:
            return

        def send():
            shown = [self.message, self.anchor, self.situation]
            for panel in self.panels:
                shown += [panel.text, panel.more, *panel.images.values()]
            for widget in shown:
                widget.send_state("value")
                widget.layout.send_state("visibility")
            self._send_again(2.0 * seconds)

        self._loop.call_later(seconds, send)

    def _soon(self):
        if not self._due:
            self._due = True
            self._loop.call_later(SPACING, self._now)

    def _now(self):
        self._due = False
        self.refresh()


class _Panel:
    """One panel: what shows and hides it, its pictures, its words, its own controls."""

    def __init__(self, title, shown_pictures, say, *own, more=lambda setting, known: ""):
        self.pictures, self._say, self._say_more = shown_pictures, say, more
        self.shown = ipywidgets.Checkbox(value=True, description="show this panel", indent=False)
        self.images = {picture: ipywidgets.Image(format="png") for picture in shown_pictures}
        self.text, self.more = ipywidgets.HTML(), ipywidgets.HTML()
        self._drawn = {}
        self.body = ipywidgets.VBox([*own, self.text, *self.images.values(), self.more])
        self.widget = ipywidgets.VBox([ipywidgets.HTML(f"<h2>{title}</h2>"), self.shown, self.body])
        self.widget.add_class("panel")

    def say(self, setting, known):
        """Write what is known."""
        self.body.layout.display = None if self.shown.value else "none"
        if self.shown.value:
            self.text.value = self._say(setting, known)
            self.more.value = self._say_more(setting, known)

    def draw(self, picture, setting, known):
        """Draw a picture, unless it would be the same one."""
        image = self.images[picture]
        shown = picture.numbers(setting) + picture.points(setting)
        seen = (setting, tuple(known(one) is not None for one in shown))
        if self._drawn.get(picture) != seen:
            image.value = picture.png(setting, known)
            self._drawn[picture] = seen
        image.layout.visibility = "visible"

    def blank(self):
        """Show nothing."""
        self.text.value = self.more.value = ""
        self._drawn.clear()
        for image in self.images.values():
            image.layout.visibility = "hidden"


def _grid(widgets, gap):
    """Return widgets side by side, or one below the other where the screen is narrow."""
    columns = "repeat(auto-fit, minmax(min(100%, 29rem), 1fr))"
    return ipywidgets.GridBox(
        widgets, layout={"grid_template_columns": columns, "grid_gap": gap, "width": "100%"}
    )


class Steps(ipywidgets.HBox):
    """A slider over given numbers beside a field that takes any number; both always show the same one.

    Parameters
    ----------
    description : str
        What the page calls the parameter.
    values : list of float
        Positions of the slider.
    refuse : callable
        Takes the text of the field and what is wrong with it.
    """

    value = traitlets.Any()

    def __init__(self, description, values, refuse):
        self.steps, self.description, self._refuse = values, description, refuse
        options = [(_shown(value), value) for value in values]
        self.slider = ipywidgets.SelectionSlider(description=description, options=options, readout=False)
        self.field = ipywidgets.Text(
            continuous_update=False, tooltip=f"{description}: a number, also 1e5 or log(3)"
        )
        self.slider.style.description_width = "8.5em"
        self.slider.layout.flex, self.field.layout.width = "1 1 auto", "8em"
        super().__init__([self.slider, self.field], value=self.slider.value)
        self.field.value = _shown(self.value)
        self.slider.observe(lambda change: self._set(change["new"]), names="value")
        self.field.observe(lambda change: self._typed(change["new"]), names="value")
        self.observe(lambda change: self.place(change["new"]), names="value")

    def _set(self, value):
        self.value = value

    def _typed(self, words):
        if words == _shown(self.value):
            return
        try:
            self.value = typed(words)
        except ValueError:
            self._refuse(f"{self.description} must be a number such as 1e5, 123456 or log(3), got {words!r}")

    def place(self, value):
        """Show a number, at a new position of the slider if need be."""
        values = sorted({*self.steps, value})
        if [one for _, one in self.slider.options] != values:
            self.slider.options = [(_shown(one), one) for one in values]
        self.value = self.slider.value = value
        self.field.value = _shown(value)


def typed(words):
    """Return the number that somebody typed: 1e5, 123,456 or log(3); nothing is evaluated.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> from shufflelib.explorer.page import typed
    >>> typed("1e5"), typed("123,456"), round(typed("log(3)"), 4)
    (100000, 123456, 1.0986)
    """
    words = words.replace(",", "").strip()
    if words.startswith("log(") and words.endswith(")"):
        return math.log(typed(words[4:-1]))
    value = float(words)
    return int(value) if value.is_integer() else value


def _shown(value):
    return f"{value:,}" if isinstance(value, int) and value < 10**7 else f"{value:.10g}"


def _decades(low, high, leading):
    """Return leading digits times powers of ten from 10^low to 10^high; whole numbers from 10^0 on."""
    found = [float(f"{digits}e{power}") for power in range(low, high) for digits in leading]
    found.append(10.0**high)
    return [int(value) for value in found] if low >= 0 else found
