"""The event log's vocabulary and its JSON (contract §5)."""
