"""What holds for every test."""

from hypothesis import settings

# An example is not wrong because the machine was busy: the first one also pays for imports.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
