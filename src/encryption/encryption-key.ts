import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** Length of a key: that of AES-256. */
export const KEY_BYTES = 32;

/**
 * One secret, known by its id, and what is derived from it: a key of its own for each purpose (HKDF-SHA-256, RFC 5869,
 * without salt, the purpose as `info`), so that nothing learned about one use of the secret helps against another.
 *
 * Key objects, not bytes: whoever logs one logs no secret.
 */
export class EncryptionKey {
  /** `info` is `temporal-conductor payload`: AES-256-GCM of what travels through Temporal. */
  readonly payload: KeyObject;
  /** AES-256-GCM of what lies in the store. */
  readonly content: KeyObject;
  /** HMAC-SHA-256 that nonces of stored content are made with. */
  readonly contentNonce: KeyObject;
  /** AES-256-CTR of digests in the names of stored objects. */
  readonly name: KeyObject;
  /** HMAC-SHA-256 that the counters of those are made with. */
  readonly nameCounter: KeyObject;

  constructor(
    readonly id: string,
    secret: Uint8Array,
  ) {
    const derive = (purpose: string): KeyObject =>
      createSecretKey(
        Buffer.from(hkdfSync('sha256', secret, '', `temporal-conductor ${purpose}`, KEY_BYTES)),
      );
    this.payload = derive('payload');
    this.content = derive('content');
    this.contentNonce = derive('content nonce');
    this.name = derive('name');
    this.nameCounter = derive('name counter');
  }
}
