"""What the handlers and the API call: runs, advance, streams, sweep."""
