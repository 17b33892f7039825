"""The HTTP API (FastAPI); imported by functions/api and the local server only."""
