import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeySettings } from '../../src/gateway/access/keys';
import { openStore } from '../../src/store/open-store';
import type { Store } from '../../src';

export interface StoreStage {
  readonly store: Store;
  /** The database of the store, opened once more, as by another process. */
  readonly again: () => Store;
}

/** A SQLite store, anew for each test of a file. */
export function useStore(): StoreStage {
  let folder = '';
  const stage = { again: () => openStore('sqlite:store.db', folder) } as {
    -readonly [Part in keyof StoreStage]: StoreStage[Part];
  };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-'));
    stage.store = stage.again();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  return stage;
}

export function settingsOf(changes: Partial<KeySettings> = {}): KeySettings {
  const unlimited = { models: null, usdPerDay: null, requestsPerMinute: null, expiresAt: null };
  return { name: 'ci', isAdmin: false, ...unlimited, ...changes };
}
