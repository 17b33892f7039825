"""Models and the loop that drives them."""
