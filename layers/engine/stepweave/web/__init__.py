"""HTTP to addresses that somebody else has named: each is judged before anything is sent to it."""
