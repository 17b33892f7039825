"""The only place that imports boto3."""
