"""Composition root, logging and the handlers' glue."""
