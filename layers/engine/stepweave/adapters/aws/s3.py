"""`BlobStore` on S3."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from stepweave.adapters.aws.s3_writer import S3Writer
from stepweave.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

PIECE_BYTES = 4 * 1024 * 1024
"""Read by one request. A reader may then take its time: no connection stands open and waits for it."""

_MISSING = {"NoSuchKey", "NotFound", "404"}
_EMPTY = "InvalidRange"
_DELETED_AT_ONCE = 1000
_TOTAL = re.compile(r"bytes \d+-\d+/(\d+)")


class S3Blobs:
    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, name: str, content: bytes, content_type: str = "application/octet-stream") -> None:
        with _asking(name):
            self._client.put_object(Bucket=self._bucket, Key=name, Body=content, ContentType=content_type)

    def get(self, name: str) -> bytes | None:
        with _asking(name):
            try:
                return self._client.get_object(Bucket=self._bucket, Key=name)["Body"].read()
            except ClientError as error:
                _raise_unless_missing(error)
                return None

    def size(self, name: str) -> int | None:
        with _asking(name):
            try:
                return self._client.head_object(Bucket=self._bucket, Key=name)["ContentLength"]
            except ClientError as error:
                _raise_unless_missing(error)
                return None

    def open(self, name: str) -> Iterator[bytes] | None:
        with _asking(name):
            try:
                content, total, tag = self._piece(name, 0)
            except ClientError as error:
                if _code(error) == _EMPTY:
                    return iter(())
                _raise_unless_missing(error)
                return None
        return self._pieces(name, content, total, tag)

    def _pieces(self, name: str, first: bytes, total: int, tag: str) -> Iterator[bytes]:
        yield first
        position = len(first)
        del first
        while position < total:
            with _asking(name):
                content, _, _ = self._piece(name, position, tag)
            position += len(content)
            yield content

    def _piece(self, name: str, start: int, tag: str | None = None) -> tuple[bytes, int, str]:
        """A piece of the blob, the size of all of it, and the tag of the version that it is of."""
        reach = f"bytes={start}-{start + PIECE_BYTES - 1}"
        same: Any = {"IfMatch": tag} if tag is not None else {}
        answer = self._client.get_object(Bucket=self._bucket, Key=name, Range=reach, **same)
        content = answer["Body"].read()
        told = _TOTAL.fullmatch(answer.get("ContentRange", ""))
        return content, int(told[1]) if told else len(content), answer["ETag"]

    @contextmanager
    def writer(self, name: str, content_type: str = "application/octet-stream") -> Iterator[S3Writer]:
        writer = S3Writer(self._client, self._bucket, name, content_type)
        try:
            with _asking(name):
                yield writer
                writer.complete()
        except BaseException:
            writer.abort()
            raise

    def list(self, prefix: str) -> Iterable[tuple[str, int]]:
        with _asking(prefix):
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
                for entry in page.get("Contents", []):
                    yield entry["Key"], entry["Size"]

    def delete(self, names: Sequence[str]) -> None:
        for start in range(0, len(names), _DELETED_AT_ONCE):
            keys: Any = [{"Key": name} for name in names[start : start + _DELETED_AT_ONCE]]
            with _asking(names[start]):
                answer = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": keys, "Quiet": True})
            for fault in answer.get("Errors", []):
                raise Unavailable(f"object storage could not delete {fault.get('Key')}: {fault.get('Message')}")

    def upload_url(self, name: str, size: int, seconds: int) -> str:
        """The size is signed: S3 takes no other."""
        return self._presigned("put_object", {"Key": name, "ContentLength": size}, seconds)

    def download_url(self, name: str, seconds: int, disposition: str | None = None) -> str:
        asked = {"ResponseContentDisposition": disposition} if disposition is not None else {}
        return self._presigned("get_object", {"Key": name, **asked}, seconds)

    def _presigned(self, call: str, asked: dict[str, Any], seconds: int) -> str:
        return self._client.generate_presigned_url(call, Params={"Bucket": self._bucket, **asked}, ExpiresIn=seconds)


@contextmanager
def _asking(name: str) -> Iterator[None]:
    """Whatever S3 or the way there refuses is the store's unavailability."""
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(f"object storage does not serve {name}: {error}") from error


def _code(error: ClientError) -> str:
    return str(error.response["Error"]["Code"])


def _raise_unless_missing(error: ClientError) -> None:
    if _code(error) not in _MISSING:
        raise error
