"""Ranking and statistics: pure functions over state."""
