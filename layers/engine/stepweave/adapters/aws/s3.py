"""`BlobStore` on S3."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from stepweave.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class S3Blobs:
    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, name: str, content: bytes, content_type: str = "application/octet-stream") -> None:
        try:
            self._client.put_object(Bucket=self._bucket, Key=name, Body=content, ContentType=content_type)
        except (BotoCoreError, ClientError) as error:
            raise Unavailable(f"object storage could not take {name}: {error}") from error

    def get(self, name: str) -> bytes | None:
        try:
            return self._client.get_object(Bucket=self._bucket, Key=name)["Body"].read()
        except ClientError as error:
            if error.response["Error"]["Code"] in {"NoSuchKey", "404"}:
                return None
            raise Unavailable(f"object storage could not give {name}: {error}") from error
        except BotoCoreError as error:
            raise Unavailable(f"object storage could not give {name}: {error}") from error

    def list(self, prefix: str) -> Iterable[tuple[str, int]]:
        for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
            for entry in page.get("Contents", []):
                yield entry["Key"], entry["Size"]

    def delete(self, names: Sequence[str]) -> None:
        for start in range(0, len(names), 1000):
            keys = [{"Key": name} for name in names[start : start + 1000]]
            self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": keys, "Quiet": True})  # type: ignore[typeddict-item]
