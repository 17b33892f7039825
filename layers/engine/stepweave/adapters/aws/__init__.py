"""The only place that imports botocore."""
