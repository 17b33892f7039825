"""What people draw: definitions, their validation and topology. Pure."""
