"""stepweave: the workflow engine for AI agents, serverless on AWS and unchanged on a laptop."""
