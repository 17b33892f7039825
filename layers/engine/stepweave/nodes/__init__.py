"""One module a node type; table.py names them."""
