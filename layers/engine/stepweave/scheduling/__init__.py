"""What comes next: decisions as values. Pure."""
