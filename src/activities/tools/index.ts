import type { Config } from '../../config/schema';
import type { ToolCard } from '../../protocol/tool-cards';
import type { ListedTools, ToolAnswer, ToolRequest } from '../../protocol/tool-use';
import type { Store } from '../../store/store';
import { callTool, type ToolDependencies } from './call-tool';
import { waitForCaller } from './wait-for-caller';
import { ToolConnections } from './connections';
import { listTools } from './list-tools';
import { acceptTool, type PinState, readPin } from './pins';
import { type MissingTool, readServerTools, type ServerTool } from './server-tools';

/** A tool of a server, and whether it is still what runs have used. */
export type LookedTool = MissingTool | (ServerTool & { readonly pin: PinState });

/** What a worker process does with tools. */
export interface Tools {
  readonly list: (cards: readonly ToolCard[], before?: ListedTools) => Promise<ListedTools>;
  readonly call: (request: ToolRequest) => Promise<ToolAnswer>;
  /** Returns what a server has of the tools that its entry allows. @throws Error with the reason if it does not answer */
  readonly look: (entry: string) => Promise<readonly LookedTool[]>;
  /** Has runs use a tool as it is now, however it was before. */
  readonly accept: (entry: string, tool: ServerTool) => Promise<void>;
  /** Closes connections that no call uses: programs that were started for them end. */
  readonly closeIdle: () => Promise<void>;
}

/** Connections are opened on first use. */
export function createTools(config: Pick<Config, 'tools'>, store: Store, env: NodeJS.ProcessEnv): Tools {
  const connections = new ToolConnections(config, env);
  return {
    list: (cards, before) => listTools({ store, connections }, cards, before),
    call: (request) =>
      request.callerId === undefined
        ? callTool({ store, connections }, request)
        : waitForCaller(store, request.callerId),
    look: (entry) => lookAt({ store, connections }, entry),
    accept: (entry, tool) => acceptTool(store, entry, tool),
    closeIdle: () => connections.closeIdle(),
  };
}

async function lookAt({ store, connections }: ToolDependencies, entry: string): Promise<LookedTool[]> {
  try {
    const { allow } = connections.serverOf(entry);
    const tools = await readServerTools(connections, entry, allow);
    return await Promise.all(
      tools.map(async (tool) =>
        'offered' in tool ? { ...tool, pin: await readPin(store, entry, tool) } : tool,
      ),
    );
  } catch (error) {
    throw new Error(connections.reasonFrom(entry, error), { cause: error });
  }
}
