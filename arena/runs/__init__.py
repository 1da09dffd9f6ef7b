"""Runs: the queue that workers lease from, and what becomes of their reports."""
