"""Agents that run across a Hermes Bridge: the protocol, the engine's side of it, and the bundled bridge's."""
