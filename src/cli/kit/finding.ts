import { Client, Connection } from '@temporalio/client';
import { reasonOf } from '../../errors';
import type { TemporalServer } from '../../local/configured-server';
import { viaProxy } from '../../local/temporal-route';
import { type Paint, widthOf, wrap } from '../../trace/lines';
import type { TrainableConfig } from '../../training/config';

/** Outcome of one check. */
export interface Looked {
  /** `broken` prevents a solve or a training night; `note` is information only. */
  readonly state: 'fine' | 'note' | 'broken';
  readonly text: string;
}

/** An outcome with the name of what was checked: one line of `doctor`. */
export interface Finding extends Looked {
  readonly what: string;
}

/** Context in which a configuration is checked. */
export interface CheckedPlace {
  readonly config: TrainableConfig;
  readonly server: Partial<Pick<TemporalServer, 'connection' | 'namespace' | 'embedded'>>;
  /** Whether credentials may be sent to the store and to the artifacts of training. */
  readonly isStoreTrusted: boolean;
}

export const fine = (text: string): Looked => ({ state: 'fine', text });
export const note = (text: string): Looked => ({ state: 'note', text });
export const broken = (text: string): Looked => ({ state: 'broken', text });

export const NOT_ASKED = note('not checked: this folder is not trusted to send credentials to the store');

/** Runs a check; an error that it throws becomes a `broken` finding. */
export async function runCheck(
  what: string,
  look: () => Looked | readonly Looked[] | Promise<Looked | readonly Looked[]>,
): Promise<Finding[]> {
  try {
    return [await look()].flat().map((looked) => ({ what, ...looked }));
  } catch (error) {
    return [{ what, ...broken(reasonOf(error)) }];
  }
}

/** Asks the server, if there is one; else finds nothing. */
export async function withServer(
  { connection: options, namespace }: CheckedPlace['server'],
  ask: (client: Client) => Promise<Looked[]>,
): Promise<Looked[]> {
  if (options === undefined) return [];
  const connection = await Connection.connect(viaProxy(options));
  try {
    return await ask(new Client({ connection, namespace }));
  } finally {
    await connection.close();
  }
}

const WHAT_COLUMNS = 16;
const LEAST_ROOM = 20;

/** Formats a finding beside its name; a long text wraps onto further lines instead of being clipped. */
export function describeFinding({ what, state, text }: Finding, paint: Paint, columns = Infinity): string {
  const mark = { fine: paint.good('✓'), note: paint.busy('·'), broken: paint.bad('✗') }[state];
  const room = Math.max(LEAST_ROOM, columns - WHAT_COLUMNS - 2);
  const lines = text.split('\n').flatMap((line) => (widthOf(line) <= room ? [line] : wrap([line], room)));
  return `${mark} ${what.padEnd(WHAT_COLUMNS)}${lines.join(`\n${' '.repeat(WHAT_COLUMNS + 2)}`)}`;
}
