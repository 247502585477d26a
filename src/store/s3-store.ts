import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type * as Sdk from '@aws-sdk/client-s3';
import { isKey, type StorePlace } from '../config/store-url';
import { explain, errorFactsOf, needsPackages, reasonOf, type ErrorRule } from '../errors';
import { Turns } from '../runtime/turns';
import { idIn } from './store-id';
import { checkStoreKey, keysOf, type Store, type StoredEntry } from './store';

/**
 * Store in a bucket of Amazon S3 or of a server that speaks its API: one object per key, below a prefix.
 *
 * S3 shows an object once all of it is there, and then at once to every reader
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/Welcome.html#ConsistencyModel), as a store must.
 * @throws Error, from each method, in one sentence: no such bucket, no access, no region, no way to the endpoint
 */
export class S3Store implements Store {
  readonly url: string;
  private client: Promise<Sdk.S3> | undefined;
  private readonly turns = new Turns(AT_ONCE);

  constructor(private readonly place: Extract<StorePlace, { kind: 's3' }>) {
    this.url = `s3://${place.bucket}/${place.prefix}`.replace(/\/$/, '');
  }

  async read(key: string): Promise<Buffer | null> {
    const at = this.objectAt(key);
    return this.ask(async (s3) => {
      const { Body } = await s3.getObject(at);
      return Body === undefined ? null : Buffer.from(await Body.transformToByteArray());
    });
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    const at = this.objectAt(key);
    await this.ask((s3) => s3.putObject({ ...at, Body: bytes }));
  }

  /** Other vendors' servers may ignore the condition; due to the check before, only simultaneous writes collide. */
  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    if ((await this.stat(key)) !== null) return false;
    return this.putIf(key, bytes, { IfNoneMatch: '*' });
  }

  /** Has the same race as `create` if a server ignores the condition. */
  async replace(key: string, bytes: Uint8Array, was: Uint8Array): Promise<boolean> {
    const at = this.objectAt(key);
    const found = await this.ask(async (s3) => {
      const { Body, ETag } = await s3.getObject(at);
      return { now: await Body?.transformToByteArray(), IfMatch: ETag };
    });
    if (found?.now === undefined || Buffer.compare(found.now, was) !== 0) return false;
    if (found.IfMatch === undefined)
      throw new Error(`the server of ${this.url} states no ETag of ${key}: ${NOT_S3}`);
    return this.putIf(key, bytes, { IfMatch: found.IfMatch });
  }

  /**
   * If the response to a request is lost, the SDK retries, and the server refuses what it already has. So each object
   * carries a mark of the write that made it: equal contents could come from another process.
   */
  private async putIf(
    key: string,
    bytes: Uint8Array,
    condition: Pick<Sdk.PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'>,
  ): Promise<boolean> {
    const at = this.objectAt(key);
    const mark = randomUUID();
    const s3 = await this.open();
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.turns.take(() =>
          s3.putObject({ ...at, Body: bytes, Metadata: { [MARK]: mark }, ...condition }),
        );
        return true;
      } catch (error) {
        const { status, code } = errorFactsOf(error);
        // 404: the object to be replaced is gone.
        if (![404, 409, 412].includes(status) || code === 'NoSuchBucket') throw explainS3(error, this.url);
        if (status !== 409 || attempt === MOST_CONFLICTS) break;
        // Another conditional write of the key is in progress, maybe an earlier attempt of this one.
        await pause(CONFLICT_PAUSE_MS * attempt);
      }
    }
    const found = await this.ask((s3) => s3.headObject(at));
    return found?.Metadata?.[MARK] === mark;
  }

  async stat(key: string): Promise<StoredEntry | null> {
    const at = this.objectAt(key);
    const found = await this.ask((s3) => s3.headObject(at));
    return found && entryOf(key, found.ContentLength, found.LastModified);
  }

  async list(prefix: string): Promise<string[]> {
    return (await keysOf(this.entries(prefix))).sort();
  }

  async *entries(prefix: string): AsyncGenerator<StoredEntry> {
    if (prefix !== '') checkStoreKey(prefix.replace(/\/$/, ''));
    const { bucket: Bucket, prefix: below } = this.place;
    const s3 = await this.open();
    let ContinuationToken: string | undefined;
    try {
      do {
        const request = { Bucket, Prefix: below + prefix, ContinuationToken };
        const { Contents = [], NextContinuationToken } = await this.turns.take(() =>
          s3.listObjectsV2(request),
        );
        ContinuationToken = NextContinuationToken;
        for (const { Key = '', Size, LastModified } of Contents) {
          const key = Key.slice(this.place.prefix.length);
          // Consoles represent folders by empty objects whose names end with a slash.
          if (isKey(key)) yield entryOf(key, Size, LastModified);
        }
      } while (ContinuationToken !== undefined);
    } catch (error) {
      throw explainS3(error, this.url);
    }
  }

  /**
   * A write between the check and the removal (milliseconds) is lost, unlike in a folder. S3 can tie a removal to an
   * object's hash, but a text that is kept again has the same hash as before.
   */
  async removeOlder(key: string, than: Date): Promise<number> {
    const entry = await this.stat(key);
    if (entry === null || entry.modifiedAt >= than) return 0;
    await this.ask((s3) => s3.deleteObject(this.objectAt(key)));
    return entry.bytes;
  }

  id(how: 'read' | 'make'): Promise<string | null> {
    return idIn(this, how);
  }

  private async ask<T>(work: (s3: Sdk.S3) => Promise<T>): Promise<T | null> {
    const s3 = await this.open();
    try {
      return await this.turns.take(() => work(s3));
    } catch (error) {
      if (['NoSuchKey', 'NotFound'].includes(errorFactsOf(error).code)) return null;
      throw explainS3(error, this.url);
    }
  }

  private open(): Promise<Sdk.S3> {
    return (this.client ??= openS3Client());
  }

  private objectAt(key: string): { Bucket: string; Key: string } {
    checkStoreKey(key);
    return { Bucket: this.place.bucket, Key: `${this.place.prefix}${key}` };
  }
}

/** Most concurrent requests. The SDK allows 50, and reports a further one that waits as an unreachable server. */
const AT_ONCE = 32;

const MARK = 'conductor-write';
const MOST_CONFLICTS = 4;
const CONFLICT_PAUSE_MS = 100;

const NOT_S3 = 'it does not speak S3 as a store needs it; name another one by AWS_ENDPOINT_URL_S3';

function entryOf(key: string, bytes: number | undefined, modifiedAt: Date | undefined): StoredEntry {
  if (bytes === undefined || modifiedAt === undefined) {
    throw new Error(`the server does not state size and age of ${key}: ${NOT_S3}`);
  }
  return { key, bytes, modifiedAt };
}

/**
 * Opens a client that only AWS's own environment and profiles configure: region, credentials, endpoint, number of
 * attempts (https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html). The SDK's own retries stay
 * on, since repeating a read or write costs nothing.
 */
async function openS3Client(): Promise<Sdk.S3> {
  const { S3 } = await import('@aws-sdk/client-s3').catch((cause: unknown) => {
    throw new Error(needsPackages('a store in S3', ['@aws-sdk/client-s3@3'], reasonOf(cause)), { cause });
  });
  return new S3({
    // Servers of other vendors rarely have a host name per bucket.
    forcePathStyle: Boolean(process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL),
    // By default the SDK waits without limit.
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 60_000 },
  });
}

/** Errors that deny access; not every server responds with 403 to all of them. */
const DENIED = /^(?:ExpiredToken|AccessDenied|RequestTimeTooSkewed) |^\S+ 40[13] /;

/** Error codes of Node. If the SDK has wrapped an error, only its message holds the code. */
const NETWORK =
  /\b(?:ECONN[A-Z]{1,20}|EAI_[A-Z]{1,20}|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EPIPE|ETIMEDOUT|CERT_\w{1,40}|ERR_TLS\w{1,40})\b|^TimeoutError/;

/** Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const RULES: readonly ErrorRule[] = [
  [
    /^NoSuchBucket/,
    (store) => `the bucket of ${store} does not exist: create it, or correct "store" in the configuration`,
  ],
  [
    /^CredentialsProviderError/,
    (store) =>
      `there are no credentials for ${store}: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
  ],
  [
    /Region (?:is missing|not accepted)|^AuthorizationHeaderMalformed|^\S+ 301 /,
    (store, { reason }) =>
      `there is no region for ${store}, or the bucket lies in another one (${reason}): set AWS_REGION to the bucket's own; ` +
      'a server of another vendor mostly takes us-east-1',
  ],
  [
    DENIED,
    (store, { code }) =>
      `access to ${store} is denied (${code}): check the clock of this machine, AWS_PROFILE or AWS_ACCESS_KEY_ID and ` +
      'AWS_SECRET_ACCESS_KEY, and that they allow s3:GetObject, s3:PutObject and s3:DeleteObject on its objects and ' +
      's3:ListBucket on the bucket',
  ],
  [
    NETWORK,
    (store, { text, reason }) =>
      `the endpoint of ${store} cannot be reached (${/\bE[A-Z]{4,}\b/.exec(text)?.[0] ?? reason}): check AWS_ENDPOINT_URL_S3, AWS_REGION and the network`,
  ],
];

export function explainS3(error: unknown, store: string): Error {
  return explain(error, RULES, store);
}
