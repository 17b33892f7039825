"""Writing one object of S3 piece by piece, in bounded memory."""

from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

PART_BYTES = 8 * 1024 * 1024
"""S3 takes 10,000 parts, of 5 MiB at least but for the last: objects of up to 78 GiB here."""


class S3Writer:
    """Gathers parts; what fits into one is put as it is, so that small objects cost one request."""

    def __init__(self, client: "S3Client", bucket: str, name: str, content_type: str) -> None:
        self._client = client
        self._object: Any = {"Bucket": bucket, "Key": name}
        self._content_type = content_type
        self._gathered = bytearray()
        self._upload_id: str | None = None
        self._parts: list[Any] = []

    def write(self, content: bytes) -> None:
        rest = memoryview(content)
        while len(self._gathered) + len(rest) > PART_BYTES:
            room = PART_BYTES - len(self._gathered)
            self._gathered += rest[:room]
            rest = rest[room:]
            self._send_part()
        self._gathered += rest

    def complete(self) -> None:
        """The object is there, as a whole, from now on."""
        if self._upload_id is None:
            self._client.put_object(**self._object, Body=bytes(self._gathered), ContentType=self._content_type)
            return
        self._send_part()
        self._client.complete_multipart_upload(
            **self._object, UploadId=self._upload_id, MultipartUpload={"Parts": self._parts}
        )

    def abort(self) -> None:
        """Nothing of it stays. Where even this fails, the bucket's lifecycle takes the parts away (template.yaml)."""
        if self._upload_id is not None:
            try:
                self._client.abort_multipart_upload(**self._object, UploadId=self._upload_id)
            except (BotoCoreError, ClientError):
                return

    def _send_part(self) -> None:
        if self._upload_id is None:
            begun = self._client.create_multipart_upload(**self._object, ContentType=self._content_type)
            self._upload_id = begun["UploadId"]
        number = len(self._parts) + 1
        sent = self._client.upload_part(
            **self._object, UploadId=self._upload_id, PartNumber=number, Body=bytes(self._gathered)
        )
        self._parts.append({"PartNumber": number, "ETag": sent["ETag"]})
        self._gathered.clear()
