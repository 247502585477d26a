import { openStore } from '../../store/open-store';
import type { Store } from '../../store/store';
import { EXIT, type ExitCode } from '../exit-code';
import { loadSettings, type WorkOptions } from '../load-settings';
import { print } from '../terminal';

/** `store migrate`: makes the tables of a store that does not do so by itself. Needs no server. */
export async function migrate(options: WorkOptions): Promise<ExitCode> {
  const config = await loadSettings(options);
  const store = openStore(config.store, process.cwd());
  await print(await outcomeOf(store));
  return EXIT.answered;
}

async function outcomeOf(store: Store): Promise<string> {
  const { url } = store;
  if (url.startsWith('sqlite:'))
    return `There is nothing to do: ${url} makes and updates its tables when it is opened.`;
  if (store.migrate === undefined) return `There is nothing to do: ${url} has no schema.`;
  const { from, to } = await store.migrate();
  if (from === to) return `There is nothing to do: the schema of ${url} is of version ${to}.`;
  return from === null
    ? `Made the schema of ${url}: version ${to}.`
    : `Migrated the schema of ${url} from version ${from} to ${to}.`;
}
