import type { Config } from '../../config/schema';
import type { ToolCard } from '../../protocol/tool-cards';
import type { ListedTools, ToolAnswer, ToolRequest } from '../../protocol/tool-use';
import type { Store } from '../../store/store';
import { callTool } from './call-tool';
import { ToolConnections } from './connections';
import { listTools } from './list-tools';

/** What a worker process does with tools. */
export interface Tools {
  readonly list: (cards: readonly ToolCard[]) => Promise<ListedTools>;
  readonly call: (request: ToolRequest) => Promise<ToolAnswer>;
  /** Closes connections that no call uses: programs that were started for them end. */
  readonly closeIdle: () => Promise<void>;
}

/** Connections are opened on first use. */
export function createTools(config: Pick<Config, 'tools'>, store: Store, env: NodeJS.ProcessEnv): Tools {
  const connections = new ToolConnections(config, env);
  return {
    list: (cards) => listTools({ store, connections }, cards),
    call: (request) => callTool({ store, connections }, request),
    closeIdle: () => connections.closeIdle(),
  };
}
