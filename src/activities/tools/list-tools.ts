import type { Client } from '@modelcontextprotocol/client' with { 'resolution-mode': 'import' };
import { activityInfo } from '@temporalio/activity';
import { z } from 'zod';
import { findJsonExcess } from '../../network/json-bounds';
import type { ToolCard } from '../../protocol/tool-cards';
import type { OfferedTool } from '../../protocol/parts';
import type { ListedTool, ListedTools } from '../../protocol/tool-use';
import { jsonBytes } from '../../plan/plan';
import { timeLimit } from '../heartbeat';
import { keepByReference } from '../tool-turns';
import { type ToolDependencies, unsent } from './call-tool';
import { isLasting } from './connections';
import { offeredName } from './offered-name';

/** Longest description and schema of one tool, and most tools of one run: vendors take no more than 128. */
const MAX_TOOL_BYTES = 32 * 1024;
const MAX_TOOLS = 128;
/** Attempts to list the tools of a server that may be starting; then the run goes on without them. */
const MAX_ATTEMPTS = 3;
/** Time that a server has to list its tools, and pages of its list that are read. */
const LIST_MS = 30_000;
const MAX_PAGES = 64;

interface Found {
  readonly listed: ListedTool;
  readonly offered: OfferedTool;
}

/**
 * Activity `conductor.listTools`: fixes the tools of a run. A tool that its server does not have, or that cannot be
 * offered, is missing with a reason; the run goes on without it.
 */
export async function listTools(
  { store, connections }: ToolDependencies,
  cards: readonly ToolCard[],
): Promise<ListedTools> {
  const { attempt } = activityInfo();
  const problems: string[] = [];
  const found: Found[] = [];
  for (const card of cards) {
    if (card.kind !== 'mcp') found.push(ownTool(card));
    else {
      try {
        found.push(...(await toolsOfServer(card, connections, problems)));
      } catch (error) {
        const reason = `the tools of ${card.name} cannot be listed: ${connections.reasonFrom(card.name, error)}`;
        if (attempt < MAX_ATTEMPTS && !isLasting(error)) throw unsent(reason);
        problems.push(reason);
      }
    }
  }
  const named = withNamesOfTheirOwn(found, problems);
  const kept = named.slice(0, MAX_TOOLS);
  if (named.length > MAX_TOOLS) problems.push(`of ${named.length} tools, the first ${MAX_TOOLS} are offered`);
  const list = await keepByReference(store, JSON.stringify(kept.map(({ offered }) => offered)));
  return { list, tools: kept.map(({ listed }) => listed), problems };
}

/** Leaves out tools whose name a model could not tell from that of an earlier one. */
function withNamesOfTheirOwn(found: readonly Found[], problems: string[]): Found[] {
  const names = new Set<string>();
  return found.filter(({ listed: { card, tool, name } }) => {
    const isNew = !names.has(name);
    if (!isNew) problems.push(`${card}.${tool} is withheld: another tool is offered as ${name}`);
    names.add(name);
    return isNew;
  });
}

function ownTool(card: Exclude<ToolCard, { readonly kind: 'mcp' }>): Found {
  const { name, description, input, repeatable, approve } = card;
  return foundAs({ card: name, tool: name, name, repeatable, approve }, { name, description, input });
}

function foundAs(listed: Omit<ListedTool, 'bytes'>, offered: OfferedTool): Found {
  return { listed: { ...listed, bytes: jsonBytes(offered) + OVERHEAD }, offered };
}

/** Bytes of what a vendor writes around a tool. */
const OVERHEAD = 256;

async function toolsOfServer(
  { name: entry, allow, repeatable, approve }: Extract<ToolCard, { readonly kind: 'mcp' }>,
  connections: ToolDependencies['connections'],
  problems: string[],
): Promise<Found[]> {
  const sent = await connections.use(entry, (client) => findSent(client, allow));
  return allow.flatMap((tool): Found[] => {
    const here = sent.get(tool);
    if (here === undefined) {
      problems.push(`${entry} has no tool ${tool}`);
      return [];
    }
    const excess = excessIn(here);
    if (excess !== null) {
      problems.push(`${entry}.${tool} is withheld: ${excess}`);
      return [];
    }
    const { description, inputSchema: input } = sentSchema.parse(here);
    const name = offeredName(entry, tool);
    const place = { card: entry, tool, name };
    const rights = { repeatable: repeatable.includes(tool), approve: approve.includes(tool) };
    return [foundAs({ ...place, ...rights }, { name, description, input })];
  });
}

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** Tool as a server sends it. */
const sentSchema = z.looseObject({
  description: z.string().catch(''),
  inputSchema: z.looseObject({ type: z.literal('object') }),
});

/** Returns what a server sends of the tools that are asked for, by name; each page is asked for until all are there. */
async function findSent(client: Client, names: readonly string[]): Promise<Map<string, unknown>> {
  const sent = new Map<string, unknown>();
  const options = { timeout: LIST_MS, signal: timeLimit(LIST_MS) };
  let params = {};
  for (let page = 0; page < MAX_PAGES && sent.size < names.length; page += 1) {
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, pageSchema, options);
    for (const tool of tools) {
      const { name } = Object(tool) as { readonly name?: unknown };
      // A second tool of a name does not replace the first.
      if (typeof name === 'string' && names.includes(name) && !sent.has(name)) sent.set(name, tool);
    }
    if (nextCursor === undefined) break;
    params = { cursor: nextCursor };
  }
  return sent;
}

/** Returns why a tool cannot be offered: what is in the way of all who read, write or walk it. */
function excessIn(sent: unknown): string | null {
  const { description, inputSchema } = Object(sent) as Readonly<Record<string, unknown>>;
  let json: string;
  try {
    json = JSON.stringify({ description, inputSchema });
  } catch {
    return 'its schema is nested too deep';
  }
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_TOOL_BYTES) return `its description and schema take ${bytes} bytes, over ${MAX_TOOL_BYTES}`;
  const excess = findJsonExcess(json);
  if (excess !== null) return `its schema has ${excess}`;
  return sentSchema.safeParse(sent).success ? null : 'its schema is not a JSON schema of type: object';
}
