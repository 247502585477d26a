import { hash } from 'node:crypto';
import { HandlerError, type StartOperationContext } from 'nexus-rpc';

/** What the workflows of a namespace may spend. */
export interface NexusCaller {
  /** Most that their solves cost in a day (UTC); null: no limit. */
  readonly usdPerDay: number | null;
}

/** Namespaces that may ask, by their names. */
export type NexusCallers = Readonly<Record<string, NexusCaller>>;

/** Form of the links that the server adds to a request of a workflow. */
const OF_WORKFLOW = /^\/namespaces\/([^/]+)\/workflows\//;

/**
 * Returns the namespace of the workflow that calls, which the server writes into the links of a request.
 * @throws HandlerError if no workflow calls, or if its namespace is not listed
 */
export function callingNamespace(
  { inboundLinks }: Pick<StartOperationContext, 'inboundLinks'>,
  callers: NexusCallers,
): string {
  const [written] = inboundLinks.flatMap(({ url }) => OF_WORKFLOW.exec(url.pathname)?.[1] ?? []);
  if (written === undefined)
    throw new HandlerError('UNAUTHORIZED', 'no workflow calls this operation: call it from one');
  const name = decodeURIComponent(written);
  if (Object.hasOwn(callers, name)) return name;
  const shown = JSON.stringify(name.slice(0, 100));
  const remedy = 'its operator adds it to the callers of ConductorNexusPlugin';
  throw new HandlerError('UNAUTHORIZED', `namespace ${shown} may not ask this team: ${remedy}`);
}

/** Returns the id of the solve that a caller names by a key. */
export function idOfKey(caller: string, key: string): string {
  return `nexus-${caller}-${hash('sha256', key).slice(0, 24)}`;
}
