"""What a door of the page is made of: controls, and parts with words and pictures."""

import html
from collections.abc import Callable
from dataclasses import dataclass

from shufflelib.explorer.mechanisms import MECHANISMS
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
        Takes a setting, ``known`` (a question's answer, or None) and whether slow answers were asked for, and
        returns HTML; by default the finding of a picture that has no headline.
    picture : Picture, optional
        Shown below the words.
    caption : str
        How to read the picture.
    asks : callable, optional
        Takes a setting and returns the questions that the words need beyond the picture's.
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
    asks: Callable = lambda setting: []
    folded: bool = False
    controls: tuple = ()

    def words(self, setting, known, asked):
        """Return the words as HTML."""
        if self.say is not None:
            return self.say(setting, known, asked)
        if self.picture.headed:
            return ""
        return f'<p class="finding">{html.escape(self.picture.finding(setting, known))}</p>'

    def questions(self, setting, asked):
        """Return the questions of words and numbers, and those of curves, as far as they need not wait."""
        numbers, points = list(self.asks(setting)), []
        if self.picture is not None and (asked or not self.picture.waits(setting)):
            numbers += self.picture.numbers(setting)
            points += self.picture.points(setting)
        return numbers, points


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
        unused = ALL_PARAMETERS - set(MECHANISMS[setting.mechanism].parameters)
        if "task" in self.controls:
            unused = unused - {"d"} if setting.task == "histogram" else unused | {"d"}
        names = [*self.controls, *self.more, *(name for part in self.parts for name in part.controls)]
        return [name for name in names if name not in unused]
