"""Pictures of ideas: each takes plain data and returns a figure, for print or behind a slider.

Every picture is one call that returns a matplotlib Figure, five inches wide, for `viz.save` or `viz.explore`.
It takes ``finding``, the headline, by default what the data say, and ``setting``, the grey line below it.
`draw_protocol` and `draw_clones` also exist as animations.
"""

from viz.ideas.blanket import draw_blanket
from viz.ideas.bracket import draw_bracket
from viz.ideas.clones import animate_clones, draw_clones
from viz.ideas.decomposition import draw_decomposition
from viz.ideas.delta import draw_delta
from viz.ideas.outcomes import draw_outcomes
from viz.ideas.protocol import animate_protocol, draw_protocol
from viz.ideas.segments import draw_segments
