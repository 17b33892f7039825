"""How a value reaches a node: templates, paths, resolution, conditions, conversion. Pure."""
