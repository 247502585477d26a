import type { Client } from 'pg';

export const CHANNEL = 'temporal_conductor';

/** Statement that notifies each folder separately, all in one commit: a payload must be shorter than 8000 bytes. */
export const NOTIFY = "SELECT pg_notify($1, folder) FROM unnest(string_to_array($2, ' ')) AS folder";

const AGAIN_MS = 1000;

/**
 * Wakes the readers of a process over one connection of its own, which is open while there are readers. Its errors are
 * ignored: without it, e.g. behind a pooler that breaks LISTEN, the readers' timers suffice.
 */
export class PostgresListener {
  readonly #wakes = new Map<string, Set<() => void>>();
  #client: Promise<Client> | undefined;

  constructor(private readonly open: () => Promise<Client>) {}

  subscribe(folder: string, wake: () => void): () => void {
    const wakes = this.#wakes.get(folder) ?? new Set();
    this.#wakes.set(folder, wakes.add(wake));
    this.#connect();
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0 && this.#wakes.get(folder) === wakes) this.#wakes.delete(folder);
      if (this.#wakes.size === 0) this.#close();
    };
  }

  #connect(): void {
    if (this.#client !== undefined || this.#wakes.size === 0) return;
    const lose = (): void => {
      if (this.#client !== client) return;
      this.#close();
      setTimeout(() => {
        this.#connect();
      }, AGAIN_MS).unref();
    };
    const client = this.#listen(lose);
    this.#client = client;
    client.catch(lose);
  }

  async #listen(lose: () => void): Promise<Client> {
    const client = await this.open();
    client.on('error', lose).on('end', lose);
    client.on('notification', ({ payload = '' }) => {
      this.#wake(this.#wakes.get(payload));
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      await client.end();
      throw error;
    }
    // Notifications from before LISTEN were missed, so all readers are woken.
    for (const wakes of this.#wakes.values()) this.#wake(wakes);
    return client;
  }

  #wake(wakes: Iterable<() => void> = []): void {
    for (const wake of [...wakes]) wake();
  }

  #close(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.then((open) => open.end()).catch(() => undefined);
  }
}
