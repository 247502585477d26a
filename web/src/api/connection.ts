import { useSyncExternalStore } from 'react';

type State = 'there' | 'lost';

/** Whether the gateway answered the latest request. */
class Connection {
  private state: State = 'there';
  private readonly listeners = new Set<() => void>();

  readonly get = (): State => this.state;

  set(state: State): void {
    if (state === this.state) return;
    this.state = state;
    for (const listener of this.listeners) listener();
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

export const connection = new Connection();

export function useConnection(): State {
  return useSyncExternalStore(connection.listen, connection.get);
}
