import pytest

from tests.functional.api.definitions import echo
from tests.functional.api.stack import Stack


@pytest.fixture
def stack() -> Stack:
    """Live streams, and the workflow `echo`."""
    stack = Stack()
    stack.save(echo())
    return stack


@pytest.fixture
def gateway() -> Stack:
    """The same behind a gateway that buffers answers."""
    stack = Stack(live=False)
    stack.save(echo())
    return stack
