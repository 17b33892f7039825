"""What agents can do: one module a tool, and the box that calls them."""
