"""A bucket that `S3Store` of the TypeScript side writes to at the same time."""

import os
from datetime import datetime
from typing import Any

from conductor_trainer.store_key import StoredObject, check_key

_MISSING = {"404", "NoSuchKey", "NotFound"}
# 409: another such request for the key is under way.
_TAKEN = {409, 412}


class S3Store:
    """One object a key, below a prefix. Configured only by AWS's own environment and profiles.

    An error that leaves has been through boto3's own retries.
    """

    def __init__(self, bucket: str, prefix: str) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._client, self._error = _open_client()
        self.url = f"s3://{bucket}/{prefix}".removesuffix("/")

    def read(self, key: str) -> StoredObject | None:
        """None where nothing lies under the key."""
        found = self._find(self._client.get_object, key)
        return None if found is None else StoredObject(found["Body"].read(), found["LastModified"])

    def modified_at(self, key: str) -> datetime | None:
        """The same, without reading it."""
        found = self._find(self._client.head_object, key)
        return None if found is None else found["LastModified"]

    def write(self, key: str, content: bytes) -> None:
        """Replaces what lies there."""
        self._client.put_object(**self._place_of(key), Body=content)

    def create(self, key: str, content: bytes) -> bool:
        """True where nothing had been there.

        Servers of other vendors may ignore the condition; with the look before, only two writes at
        one moment can meet.
        """
        if self.modified_at(key) is not None:
            return False
        try:
            self._client.put_object(**self._place_of(key), Body=content, IfNoneMatch="*")
        except self._error as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] in _TAKEN:
                return False
            raise
        return True

    def _find(self, look: Any, key: str) -> Any:
        try:
            return look(**self._place_of(key))
        except self._error as error:
            if error.response["Error"]["Code"] in _MISSING:
                return None
            raise

    def _place_of(self, key: str) -> dict[str, str]:
        check_key(key)
        return {"Bucket": self._bucket, "Key": f"{self._prefix}{key}"}


def _open_client() -> tuple[Any, Any]:
    """A client, and the class of its errors."""
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import ClientError
    except ImportError as error:
        raise RuntimeError(
            'a store in S3 needs boto3: install the trainer as "temporal-conductor-trainer[s3]"'
        ) from error
    # Servers of other vendors rarely have a host name for each bucket.
    is_other = "AWS_ENDPOINT_URL_S3" in os.environ or "AWS_ENDPOINT_URL" in os.environ
    config = Config(s3={"addressing_style": "path" if is_other else "auto"})
    return boto3.client("s3", config=config), ClientError
