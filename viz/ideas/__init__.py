"""Pictures of ideas: each takes plain data and returns a figure, for print or behind a slider.

Every picture is one call that returns a matplotlib Figure, five inches wide.  It takes ``finding``, the
headline, by default what the data say; ``setting``, the grey line below it; and ``fig``, an earlier picture
into which it is drawn again.
`draw_protocol` and `draw_clones` also exist as animations.
"""

from viz.ideas.blanket import draw_blanket
from viz.ideas.clones import animate_clones, draw_clones
from viz.ideas.decomposition import draw_decomposition
from viz.ideas.number_line import draw_bracket
from viz.ideas.outcomes import draw_outcomes
from viz.ideas.protocol import animate_protocol, draw_protocol
from viz.ideas.segments import draw_segments
from viz.ideas.two_worlds import draw_delta
