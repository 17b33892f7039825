"""Structured logs. Every invocation writes at least one line: what was done, for which run, how long it took."""

from aws_lambda_powertools import Logger

logger = Logger(service="stepweave", use_rfc3339=True, utc=True)
