"""Runs as pages that a browser shows."""
