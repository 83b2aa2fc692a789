"""Pictures and text of a hand, drawn from a view and never from a state; importing it lets views draw themselves."""

from okgin_env.render import svg, text
from okgin_env.view import register_renderer

register_renderer("text", text.draw)
register_renderer("svg", svg.draw)
