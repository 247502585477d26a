import type { Client } from '@temporalio/client';
import { ConfigError } from '../config/errors';
import { ConductorError } from '../errors';
import { CRITERIA, type Criterion, type RunCriteria, SEARCH_ATTRIBUTES } from '../protocol/search-attributes';
import { invalidityIn } from './server-errors';

/** Thrown if the namespace does not have the search attributes that runs are to be given; nothing was started. */
export class SearchAttributeError extends ConductorError {
  override readonly name = 'SearchAttributeError';
  readonly code = 'SearchAttribute';
}

/** Returns the command that adds a search attribute of ours to a namespace. */
export function creationOf(criterion: Criterion, namespace: string): string {
  return `temporal operator search-attribute create --namespace ${namespace} --name ${SEARCH_ATTRIBUTES[criterion]} --type Keyword`;
}

/** `IndexedValueType` of Temporal's API. */
const KEYWORD = 2;

/** Returns the search attributes that a namespace lacks, and those that it has with another type. */
export async function compareAttributes(
  { connection, options: { namespace } }: Client,
  criteria: readonly Criterion[],
): Promise<{ readonly missing: readonly Criterion[]; readonly mistyped: readonly Criterion[] }> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const typeOf = (each: Criterion): number | undefined => {
    const type: number | undefined = customAttributes[SEARCH_ATTRIBUTES[each]];
    return type;
  };
  return {
    missing: criteria.filter((each) => typeOf(each) === undefined),
    mistyped: criteria.filter((each) => ![undefined, KEYWORD].includes(typeOf(each))),
  };
}

/** Adds the search attributes that a namespace lacks. */
export async function addAttributes(client: Client, criteria: readonly Criterion[]): Promise<void> {
  const { missing } = await compareAttributes(client, criteria);
  if (missing.length === 0) return;
  await client.connection.operatorService.addSearchAttributes({
    namespace: client.options.namespace,
    searchAttributes: Object.fromEntries(missing.map((each) => [SEARCH_ATTRIBUTES[each], KEYWORD])),
  });
}

/** Awaits a request with search attributes. @throws SearchAttributeError if the server refuses one of them */
export async function withAttributes<Answer>({ options }: Client, asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (cause) {
    const refused = refusedIn(cause);
    if (refused === undefined) throw cause;
    const { criterion, details } = refused;
    const what = `Temporal's namespace ${options.namespace} does not take search attribute ${SEARCH_ATTRIBUTES[criterion]}`;
    const remedy = `create it: ${creationOf(criterion, options.namespace)}; or take it out of temporal.searchAttributes`;
    throw new SearchAttributeError(`${what} (${details}): ${remedy}`, { cause });
  }
}

function refusedIn(error: unknown): { readonly criterion: Criterion; readonly details: string } | undefined {
  const details = invalidityIn(error);
  if (details === undefined) return undefined;
  const criterion = CRITERIA.find((each) => details.includes(SEARCH_ATTRIBUTES[each]));
  return criterion && { criterion, details };
}

/** @throws ConfigError if runs are not given what they are sought by: none would be found */
export function requireCriteria(where: RunCriteria, criteria: readonly Criterion[]): void {
  for (const each of CRITERIA) {
    if (where[each] === undefined || criteria.includes(each)) continue;
    const name = SEARCH_ATTRIBUTES[each];
    throw new ConfigError(
      `runs cannot be found by their ${each}, since the configuration does not have them started with ${name}: ` +
        `set temporal.searchAttributes to true, or to a list with ${name}, for the runs from then on`,
    );
  }
}
