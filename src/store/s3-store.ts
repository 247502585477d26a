import { openS3Client, type S3Client } from './s3-client';
import { explainS3, isMissing } from './s3-problem';
import { checkKey, isKey, type Store, type StoredEntry } from './store';
import type { StorePlace } from './store-url';

type S3Place = Extract<StorePlace, { kind: 's3' }>;

/**
 * A store in a bucket of Amazon S3 or of a server that speaks its API: one object a key, below a prefix.
 *
 * S3 shows an object when all of it is there, and at once to every reader
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/Welcome.html#ConsistencyModel), which is what a store promises.
 *
 * @throws Error, from each method, in one sentence: no such bucket, no access, no region, no way to the endpoint
 */
export class S3Store implements Store {
  readonly url: string;
  private readonly bucket: string;
  private readonly prefix: string;
  private client: Promise<S3Client> | undefined;

  constructor({ bucket, prefix }: S3Place) {
    this.url = `s3://${bucket}/${prefix}`.replace(/\/$/, '');
    this.bucket = bucket;
    this.prefix = prefix;
  }

  async read(key: string): Promise<Buffer | null> {
    const at = this.placeOf(key);
    return this.ask(async ({ s3 }) => {
      const { Body } = await s3.getObject(at);
      return Body === undefined ? null : Buffer.from(await Body.transformToByteArray());
    });
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    const at = this.placeOf(key);
    await this.ask(({ s3 }) => s3.putObject({ ...at, Body: bytes }));
  }

  async stat(key: string): Promise<StoredEntry | null> {
    const at = this.placeOf(key);
    const found = await this.ask(({ s3 }) => s3.headObject(at));
    return found && entryOf(key, found.ContentLength, found.LastModified);
  }

  async list(prefix: string): Promise<string[]> {
    const keys = [];
    for await (const { key } of this.entries(prefix)) keys.push(key);
    return keys.sort();
  }

  async *entries(prefix: string): AsyncGenerator<StoredEntry> {
    const { Key: below } = this.placeOf(prefix.replace(/\/$/, ''));
    const { sdk, s3 } = await this.open();
    try {
      const pages = sdk.paginateListObjectsV2({ client: s3 }, { Bucket: this.bucket, Prefix: `${below}/` });
      for await (const { Contents = [] } of pages) {
        for (const { Key = '', Size, LastModified } of Contents) {
          const key = Key.slice(this.prefix.length);
          // Consoles show folders by empty objects whose names end with a slash.
          if (isKey(key)) yield entryOf(key, Size, LastModified);
        }
      }
    } catch (error) {
      throw explainS3(error, this.url);
    }
  }

  /**
   * A write between the look and the removal is lost: milliseconds, where a folder has none. S3 can tie a removal to an
   * object's hash, but a text that is kept again has the hash it had before.
   */
  async removeOlder(key: string, than: Date): Promise<number> {
    const entry = await this.stat(key);
    if (entry === null || entry.modifiedAt >= than) return 0;
    await this.ask(({ s3 }) => s3.deleteObject(this.placeOf(key)));
    return entry.bytes;
  }

  /** Asks the server, once or as often as the SDK thinks right; null where there is no such object. */
  private async ask<T>(work: (client: S3Client) => Promise<T>): Promise<T | null> {
    const client = await this.open();
    try {
      return await work(client);
    } catch (error) {
      if (isMissing(error)) return null;
      throw explainS3(error, this.url);
    }
  }

  private open(): Promise<S3Client> {
    return (this.client ??= openS3Client());
  }

  private placeOf(key: string): { Bucket: string; Key: string } {
    checkKey(key);
    return { Bucket: this.bucket, Key: `${this.prefix}${key}` };
  }
}

function entryOf(key: string, bytes: number | undefined, modifiedAt: Date | undefined): StoredEntry {
  if (bytes === undefined || modifiedAt === undefined) {
    throw new Error(`the server does not tell size and age of ${key}`);
  }
  return { key, bytes, modifiedAt };
}
