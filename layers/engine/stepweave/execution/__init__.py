"""What happens in a run: envelopes, visits, outcomes, what a node sees. Pure."""
