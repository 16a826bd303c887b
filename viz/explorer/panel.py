"""The panel: controls on the left, the open door's answer on the right, and who computes it."""

import asyncio
import os

import ipywidgets
from IPython.display import HTML

from viz.explore import Panel, complaint, explore, log_slider, slider, status
from viz.explorer import words
from viz.explorer.controls import controls
from viz.explorer.doors import BESIDE, DOORS
from viz.explorer.pictures import Attacker
from viz.explorer.questions import Question
from viz.explorer.setting import MECHANISMS, Setting
from viz.explorer.worker import Worker

PARAMETERS = {name for one in MECHANISMS.values() for name in one.parameters}
HOW = (
    "<p>Here two controls move a picture, and the answers below are for one setting. The "
    '<a href="../planner/index.html">planner</a> answers other settings in the browser; '
    "<code>make app</code> opens all controls.</p>"
)
STYLE = (
    "<style>.viz-explorer .widget-html-content { line-height: 1.4 }\n"
    ".viz-explorer p { margin: 0.3em 0 }\n"
    ".viz-explorer .jupyter-widget-Collapse-header { color: var(--jp-ui-font-color1) }</style>"
)
SHARE = "Copy this text to share the setting, or paste one here."
MOST_KEPT = 500  # answers


def explorer(setting=None):
    """Return the explorer's panel, ready to be shown by a notebook.

    Parameters
    ----------
    setting : Setting, optional
        Where it starts.

    Returns
    -------
    Explorer
        Where the environment variable ``SHUFFLELIB_FRAMES`` is set, the answers of all doors as HTML instead,
        which needs no kernel.
    """
    setting = setting or Setting()
    return HTML(stills(setting)) if os.environ.get("SHUFFLELIB_FRAMES") else Explorer(setting)


def stills(setting):
    """Return what each door answers, as HTML; only the first picture moves."""
    parts = [HOW, moving(setting)]
    for door in (kind() for kind in DOORS):
        door.write(setting, {ask: Question(ask, setting).call()() for ask in door.needs})
        parts += [f"<h3>{door.title}</h3>", door.answer.value, door.more.value]
        parts += [door.picture.value] * (door.title != "Understand")
    return "".join(parts)


def moving(setting):
    """Return the picture of *Understand* for a few numbers of users and budgets, as HTML with two sliders."""
    attacker = Attacker()
    attacker.ax.figure.subplots_adjust(top=0.9)

    def draw(**moved):
        there = setting.but(**moved)
        eps, missed = (Question(ask, there).call()() for ask in ("epsilon", "missed"))
        ax, _, _ = attacker.draw(there, eps, missed)
        ax.set_title(f"{there.n:,} users: ε ≤ {words.rounded(eps.upper, up=True)}", loc="left")
        return ax

    controls = {"n": log_slider(100, 10**8, setting.n, per_decade=1)}
    if "eps0" in setting.parameters:
        controls["eps0"] = slider(0.5, 4.5, setting.eps0, step=0.5)
    return explore(draw, **controls).data


class Explorer(Panel):
    """Controls, and a door that answers; the settings of all doors are one.

    Every answer belongs to the `Setting` on show, whose text stands below; what cannot be answered is said in
    place of the earlier answer.
    """

    def __init__(self, setting):
        self.setting, self._known, self._worker = setting, {}, Worker()
        try:
            self._loop = asyncio.get_running_loop()  # a kernel's; widgets are written between its messages
        except RuntimeError:
            self._loop = None
        self.controls = controls(self._moved)
        self.doors = [door() for door in DOORS]
        self.progress = status()
        self.stop = ipywidgets.Button(description="Stop", layout={"width": "6em", "display": "none"})
        self.stop.on_click(lambda _: self._stopped())
        self.link = ipywidgets.Text(
            description="this setting",
            continuous_update=False,
            layout={"width": "100%"},
            style={"description_width": "6.2em"},
        )
        self.refused = ipywidgets.HTML()
        self.link.observe(self._pasted, names="value")
        self._left = ipywidgets.VBox(layout={"width": "25.5em", "max_width": "100%"})
        waiting = ipywidgets.HBox([self.progress, self.stop])
        answers = [door.shown() for door in self.doors]
        self._stack = ipywidgets.Stack(answers, selected_index=0)
        right = ipywidgets.VBox([waiting, self._stack], layout={"flex": "1 1 26em", "min_width": "0"})
        self.tabs = ipywidgets.ToggleButtons(
            options=[(door.title, at) for at, door in enumerate(self.doors)], style={"button_width": "8em"}
        )
        self.tabs.observe(lambda change: self._open(), names="value")
        beside = ipywidgets.HBox([self._left, right], layout=BESIDE)
        lead = ipywidgets.HTML(f"{STYLE}<p>{words.SHUFFLER}</p>")
        super().__init__([lead, self.tabs, beside, self.link, self.refused])
        self.add_class("viz-explorer")
        self._open()

    @property
    def door(self):
        """The door that is open."""
        return self.doors[self.tabs.value]

    def said(self, title):
        """Return the answer of a door, as HTML."""
        return next(door.answer.value for door in self.doors if door.title == title)

    def _open(self):
        self._stack.selected_index = self.tabs.value
        self.show(self.setting)

    def show(self, setting):
        """Show a setting in all controls, and answer."""
        self.setting = setting
        unused = PARAMETERS - {*setting.parameters}
        if "task" in self.door.controls:
            unused = set() if setting.task == "histogram" else {"d"}
        children = tuple(self.controls[name] for name in self.door.controls if name not in unused)
        if self._left.children != children:  # or the focus is lost
            self._left.children = children
        for name, control in self.controls.items():
            if control.value != getattr(setting, name):
                control.show(getattr(setting, name))
        self.link.value, self.refused.value = setting.link, SHARE
        self.answer()

    def _moved(self, control):
        try:
            setting = self.setting.but(**{control.name: control.value})
        except ValueError as error:
            control.value = getattr(self.setting, control.name)
            control.refuse(error)
        else:
            self.show(setting)

    def _pasted(self, change):
        if change.new == self.setting.link:  # shown already
            self.refused.value = SHARE
            return
        try:
            self.show(Setting.from_link(change.new))
        except ValueError as error:  # the text stays, so that it can be repaired
            self.refused.value = words.alert(complaint(error))

    def answer(self):
        """Answer the door's questions: at once what is quick, and the rest as it comes."""
        door, setting = self.door, self.setting
        needs = [ask for ask in door.needs if ask != "bounds" or setting.one_round]
        waiting = []
        for ask in needs:
            asked = Question(ask, setting)
            if asked not in self._known and asked.slow:
                waiting.append(asked)
                continue
            if asked not in self._known:
                self._keep(asked, _answer(asked))
            self._write(door, setting)
        self._wait(door, setting, waiting)

    def _wait(self, door, setting, waiting):
        if not waiting:
            self._say("")
            return
        if Question(door.first, setting) in self._known:
            door.clear_late()
        else:
            door.clear("<p>computing …</p>")
        self._say(f"computing: 0 of {len(waiting)} answers")

        def told(answers):
            if isinstance(answers, BaseException):
                failed = next(asked for asked in waiting if asked not in self._known)
                self._keep(failed, answers)
            else:
                for asked, answer in zip(waiting, answers, strict=False):
                    self._keep(asked, answer)
            if (door, setting) != (self.door, self.setting):  # nobody looks at it any more
                return
            left = not isinstance(answers, BaseException) and len(answers) < len(waiting)
            self._say(f"computing: {len(answers)} of {len(waiting)} answers" if left else "")
            self._write(door, setting)

        def told_here(answers):
            if self._loop:
                self._loop.call_soon_threadsafe(told, answers)
            else:
                told(answers)

        try:
            calls = [asked.call() for asked in waiting]
        except Exception as error:
            told(error)
        else:
            self._worker.ask(calls, told_here)

    def _keep(self, asked, answer):
        self._known[asked] = answer
        while len(self._known) > MOST_KEPT:
            del self._known[next(iter(self._known))]

    def _write(self, door, setting):
        """Write what is known; a failure is shown once and asked again the next time."""
        asked = {ask: Question(ask, setting) for ask in door.needs}
        known = {ask: self._known[one] for ask, one in asked.items() if one in self._known}
        if door.first in known or any(isinstance(one, Exception) for one in known.values()):
            try:
                door.write(setting, known)
            except Exception as error:
                door.clear(words.alert(complaint(error)))
        for ask, one in known.items():
            if isinstance(one, Exception):
                del self._known[asked[ask]]

    def _say(self, text):
        self.progress.value = text
        self.stop.layout.display = "" if text else "none"

    def _stopped(self):
        self._worker.stop()
        self._say("")
        if not self.door.picture.value:
            self.door.clear("<p>Stopped. Move a control to ask again.</p>")


def _answer(asked):
    try:
        return asked.call()()
    except Exception as error:
        return error
