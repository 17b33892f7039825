"""Updates that may be made twice without harm: they are tried again until it is known what came of them."""

from stepweave.errors import Unavailable
from stepweave.items import Item, OutcomeUnknown, Update, WriteConflict
from stepweave.ports import ItemStore

_MOST_TRIES = 100
"""Each takes as long as the SDK's own tries take: whoever comes to the end of them talks to nobody."""


def update_again(items: ItemStore, update: Update) -> Item:
    """The item as it stands after the update. Raises `WriteRefused`, and `Unavailable` where the store is out of reach."""
    for _ in range(_MOST_TRIES):
        try:
            return items.update(update)
        except (WriteConflict, OutcomeUnknown):
            continue
    raise Unavailable("the store lets no write through")
