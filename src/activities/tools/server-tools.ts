import { z } from 'zod';
import { findJsonExcess } from '../../network/json-bounds';
import type { OfferedTool } from '../../protocol/parts';
import { timeLimit } from '../heartbeat';
import type { ToolClient, ToolConnections } from './connections';
import { offeredName } from './offered-name';

/** Longest description and schema of one tool. */
const MAX_TOOL_BYTES = 32 * 1024;
/** Time that a server has to list its tools, and pages of its list that are read. */
const LIST_MS = 30_000;
const MAX_PAGES = 64;

/** A tool that a server has, as models would be offered it. */
export interface ServerTool {
  /** Its own name. */
  readonly tool: string;
  readonly offered: OfferedTool;
}

/** A tool that cannot be offered, and a sentence that says why. */
export interface MissingTool {
  readonly tool: string;
  readonly problem: string;
}

/** Returns what a server has of the tools that its entry allows, in that order. @throws Error if it does not answer */
export async function readServerTools(
  connections: ToolConnections,
  entry: string,
  allow: readonly string[],
): Promise<(ServerTool | MissingTool)[]> {
  const sent = await connections.use(entry, (client) => findSent(client, allow));
  return allow.map((tool) => {
    const here = sent.get(tool);
    if (here === undefined) return { tool, problem: `${entry} has no tool ${tool}` };
    const excess = excessIn(here);
    if (excess !== null) return { tool, problem: `${entry}.${tool} is withheld: ${excess}` };
    const { description, inputSchema: input } = sentSchema.parse(here);
    return { tool, offered: { name: offeredName(entry, tool), description, input } };
  });
}

const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** Tool as a server sends it. */
const sentSchema = z.looseObject({
  description: z.string().catch(''),
  inputSchema: z.looseObject({ type: z.literal('object') }),
});

/** Returns what a server sends of the tools that are asked for, by name; each page is asked for until all are there. */
async function findSent(client: ToolClient, names: readonly string[]): Promise<Map<string, unknown>> {
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
