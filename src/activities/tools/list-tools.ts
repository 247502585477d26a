import { reasonOf } from '../../errors';
import type { ToolCard } from '../../protocol/tool-cards';
import type { OfferedTool } from '../../protocol/parts';
import type { ListedTool, ListedTools } from '../../protocol/tool-use';
import { jsonBytes } from '../../plan/plan';
import { redact } from '../models/redact';
import { keepByReference } from '../tool-turns';
import type { ToolDependencies } from './call-tool';
import { offeredName } from './offered-name';

/** Longest description and schema of one tool, and most tools of one run: vendors take no more than 128. */
const MAX_TOOL_BYTES = 32 * 1024;
const MAX_TOOLS = 128;
/** Time that a server has to list its tools. */
const LIST_MS = 30_000;

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
  const problems: string[] = [];
  const found: Found[] = [];
  for (const card of cards) {
    if (card.kind !== 'mcp') found.push(ownTool(card));
    else {
      try {
        found.push(...(await toolsOfServer(card, connections, problems)));
      } catch (error) {
        const secrets = secretsOf(connections, card.name);
        const reason = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), reasonOf(error));
        problems.push(`the tools of ${card.name} cannot be listed: ${redact(reason, null)}`);
      }
    }
  }
  const kept = found.slice(0, MAX_TOOLS);
  if (found.length > MAX_TOOLS) problems.push(`of ${found.length} tools, the first ${MAX_TOOLS} are offered`);
  const list = await keepByReference(store, JSON.stringify(kept.map(({ offered }) => offered)));
  return { list, tools: kept.map(({ listed }) => listed), problems };
}

function secretsOf(connections: ToolDependencies['connections'], entry: string): string[] {
  try {
    return connections.secretsOf(entry);
  } catch {
    return [];
  }
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
  const { tools } = await connections.use(entry, (client) =>
    client.listTools(undefined, { timeout: LIST_MS, maxTotalTimeout: LIST_MS }),
  );
  return allow.flatMap((tool): Found[] => {
    const sent = tools.find(({ name }) => name === tool);
    if (sent === undefined) {
      problems.push(`${entry} has no tool ${tool}`);
      return [];
    }
    const { description = '', inputSchema: input } = sent;
    const name = offeredName(entry, tool);
    const found = foundAs(
      { card: entry, tool, name, repeatable: repeatable.includes(tool), approve: approve.includes(tool) },
      { name, description, input },
    );
    if (found.listed.bytes <= MAX_TOOL_BYTES) return [found];
    problems.push(
      `${entry}.${tool} is withheld: its description and schema take ${found.listed.bytes} bytes, over ${MAX_TOOL_BYTES}`,
    );
    return [];
  });
}
