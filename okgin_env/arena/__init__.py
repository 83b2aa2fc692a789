"""The arena: which of two players is better, by how much, and how sure that is."""
