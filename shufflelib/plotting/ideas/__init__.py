"""Pictures of ideas: each takes plain data and gives a figure, good as a still and behind a slider.

Every picture is one call, five inches wide, and takes ``fig=`` to be drawn again into an earlier one.
`draw_protocol` and `draw_clones` also exist as animations.
"""

from shufflelib.plotting.ideas.blanket import draw_blanket
from shufflelib.plotting.ideas.protocol import animate_protocol, draw_protocol
from shufflelib.plotting.ideas.two_worlds import draw_delta
