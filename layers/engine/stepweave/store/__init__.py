"""The tables as the domain sees them; large values leave for object storage here, unseen by callers."""
