"""A store in a bucket of Amazon S3, or of a server that speaks its API."""

import os
from typing import Any

from conductor_trainer.store.store import StoredObject, check_key


class S3Store:
    """One object a key, below a prefix. Set up by AWS's own environment and profiles alone."""

    def __init__(self, bucket: str, prefix: str) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._client = _open_client()
        self.url = f"s3://{bucket}/{prefix}".removesuffix("/")

    def read(self, key: str) -> StoredObject | None:
        """The object of that key; boto3's own retries have been tried when an error leaves."""
        check_key(key)
        try:
            found = self._client.get_object(Bucket=self._bucket, Key=f"{self._prefix}{key}")
        except self._client.exceptions.NoSuchKey:
            return None
        return StoredObject(found["Body"].read(), found["LastModified"])


def _open_client() -> Any:
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise RuntimeError(
            'a store in S3 needs boto3: install the trainer as "conductor-trainer[s3]"'
        ) from error
    # Servers of other vendors rarely have a host name for each bucket.
    is_other = "AWS_ENDPOINT_URL_S3" in os.environ or "AWS_ENDPOINT_URL" in os.environ
    config = Config(s3={"addressing_style": "path" if is_other else "auto"})
    return boto3.client("s3", config=config)
