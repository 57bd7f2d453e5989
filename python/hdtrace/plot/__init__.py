"""Runs as figures for papers, with matplotlib."""
