"""Pictures of a hand, drawn from a view and never from a state."""
