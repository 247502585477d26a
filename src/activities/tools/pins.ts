import { hash } from 'node:crypto';
import type { Store } from '../../store/store';
import type { ServerTool } from './server-tools';

// A tool is pinned to the description and schema with which it was first used: a server that changes them later could
// turn a tool that was looked at into another one. Pins are in the store, and hold for all workers.

/** `new`: no run has used it. `changed`: its server describes it in another way than before. */
export type PinState = 'new' | 'same' | 'changed';

export async function readPin(store: Store, entry: string, tool: ServerTool): Promise<PinState> {
  const pinned = await store.read(keyOf(entry, tool));
  if (pinned === null) return 'new';
  return pinned.toString('utf8') === digestOf(tool) ? 'same' : 'changed';
}

/** Pins a tool that is used for the first time, and tells whether a later one is still what was pinned. */
export async function checkPin(store: Store, entry: string, tool: ServerTool): Promise<'same' | 'changed'> {
  const state = await readPin(store, entry, tool);
  if (state !== 'new') return state;
  if (await store.create(keyOf(entry, tool), Buffer.from(digestOf(tool)))) return 'same';
  return checkPin(store, entry, tool);
}

/** Pins a tool as it is now. */
export async function acceptTool(store: Store, entry: string, tool: ServerTool): Promise<void> {
  await store.write(keyOf(entry, tool), Buffer.from(digestOf(tool)));
}

function keyOf(entry: string, { tool }: ServerTool): string {
  return `tool-pins/${hash('sha256', JSON.stringify([entry, tool]))}`;
}

function digestOf({ tool, offered: { description, input } }: ServerTool): string {
  return hash('sha256', JSON.stringify([tool, description, input]));
}
