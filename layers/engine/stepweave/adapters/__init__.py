"""Implementations of the ports: AWS and memory."""
