"""Helpers for tests that run MPI programs and say what their traces hold."""
