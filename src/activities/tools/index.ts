import type { Config } from '../../config/schema';
import type { ToolCard } from '../../protocol/tool-cards';
import type { ListedTools, ToolAnswer, ToolRequest } from '../../protocol/tool-use';
import type { Store } from '../../store/store';
import { callTool } from './call-tool';
import { ToolConnections } from './connections';
import { listTools } from './list-tools';

/** Returns what a worker process does with tools. Its connections are opened on first use. */
export function openTools(
  config: Pick<Config, 'tools'>,
  store: Store,
  env: NodeJS.ProcessEnv,
): {
  readonly list: (cards: readonly ToolCard[]) => Promise<ListedTools>;
  readonly call: (request: ToolRequest) => Promise<ToolAnswer>;
} {
  const dependencies = { store, connections: new ToolConnections(config, env) };
  return {
    list: (cards) => listTools(dependencies, cards),
    call: (request) => callTool(dependencies, request),
  };
}
