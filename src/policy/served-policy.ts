/** A checkpoint, and where it is served. */
export interface ServedPolicy {
  /** As requests name it. */
  readonly model: string;
  /** Folder that a server which does not know it loads it from. */
  readonly path: string;
  readonly tokenizerSha256: string;
  /** How many token ids it knows, from 0 on. */
  readonly vocabulary: number;
  readonly maxPromptTokens: number;
  /** Base URLs, each ending in `/v1`; the first that answers does it. */
  readonly servers: readonly string[];
}
