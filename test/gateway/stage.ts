import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeySettings } from '../../src/gateway/access/keys';
import { openStore } from '../../src/store/open-store';
import type { Store } from '../../src';

export interface StoreStage {
  readonly store: Store;
  /** Opens the store's database once more, as another process would. */
  readonly again: () => Store;
}

/** Returns a stage with a new SQLite store for each test of a file. */
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
