import { createTools, type LookedTool, type Tools } from '../../activities';
import { errandsOfTools } from '../../config/tools';
import { reasonOf, UsageError } from '../../errors';
import { configuredStore } from '../../store/open-store';
import { joinFacts } from '../../trace/describe';
import { oneLine } from '../../trace/lines';
import type { TrainableConfig } from '../../training/config';
import { EXIT, type ExitCode } from '../kit/ending';
import { broken, describeFinding, fine, type Finding, type Looked, note } from '../kit/finding';
import { loadTrusted, type WorkOptions } from '../kit/load-settings';
import { columnsOf, paintFor, print, say } from '../kit/terminal';

interface ToolsOptions extends WorkOptions {
  /** Entry, or tool of one, as `github.search_issues`. */
  readonly accept?: string;
}

/** `tools`: shows what each server offers, and whether it has changed; accepts changes. */
export async function showTools({ accept, ...options }: ToolsOptions): Promise<ExitCode> {
  const config = await loadTrusted(options);
  const entries = serversOf(config);
  if (entries.length === 0) say('The configuration has no tool servers: add them under "tools:".');
  const tools = createTools(config, configuredStore(config), process.env);
  try {
    if (accept !== undefined) await acceptTools(tools, entries, accept);
    const found = await Promise.all(entries.map((entry) => describeEntry(tools, entry)));
    const [paint, columns] = [paintFor(process.stdout), columnsOf(process.stdout)];
    const lines = found.flat().map((finding) => describeFinding(finding, paint, columns));
    if (lines.length > 0) await print(lines.join('\n'), { painted: true });
    return found.flat().some(({ state }) => state === 'broken') ? EXIT.failed : EXIT.answered;
  } finally {
    await tools.closeIdle();
  }
}

/** Checks each server for `doctor`: that it answers, and that its tools are what runs have used. */
export async function checkServers(config: TrainableConfig, untrusted: readonly string[]): Promise<Looked[]> {
  const entries = serversOf(config);
  if (entries.length === 0) return [];
  if (errandsOfTools(config).some((pair) => untrusted.includes(pair)))
    return [note('not asked: this folder is not trusted to start or to ask the servers of tools')];
  const tools = createTools(config, configuredStore(config), process.env);
  try {
    const found = await Promise.all(entries.map((entry) => describeEntry(tools, entry)));
    const servers = found.map((all, index) => {
      const faults = all.filter(({ state }) => state === 'broken').map(({ text }) => text);
      if (faults.length > 0) return broken(faults.join('\n'));
      return fine(`${entries[index] ?? ''} answers, with all ${all.length} tools that it allows`);
    });
    return [...servers, ...adviceOnCallers(config)];
  } finally {
    await tools.closeIdle();
  }
}

/** Only a paid request shows whether a model calls tools: some servers accept tools for one that never does. */
function adviceOnCallers({ workers }: TrainableConfig): Looked[] {
  const callers = workers.flatMap((card) => ('tools' in card && card.tools !== undefined ? [card.id] : []));
  if (callers.length === 0) return [];
  return [
    note(
      `may be called by ${callers.join(', ')}: "temporal-conductor pool check" asks their models for a call`,
    ),
  ];
}

function serversOf({ tools }: TrainableConfig): string[] {
  return Object.entries(tools).flatMap(([entry, tool]) => ('mcp' in tool ? [entry] : []));
}

async function describeEntry(tools: Tools, entry: string): Promise<Finding[]> {
  try {
    const found = await tools.look(entry);
    return found.map((tool) => ({ what: entry, ...describeTool(entry, tool) }));
  } catch (error) {
    return [{ what: entry, ...broken(`${entry} cannot be listed: ${reasonOf(error)}`) }];
  }
}

/** Characters of a description that are shown. */
const SHOWN = 200;

function describeTool(entry: string, tool: LookedTool): Looked {
  if (!('offered' in tool)) return broken(tool.problem);
  const name = `${entry}.${tool.tool}`;
  const said = oneLine(tool.offered.description, SHOWN);
  if (tool.pin !== 'changed') return fine(joinFacts(name, tool.pin === 'new' && 'not used yet', said));
  return broken(
    `${name} has changed since it was first used, and runs go without it. Its server says now: ${said}\n` +
      `To accept it: temporal-conductor tools --accept ${name}`,
  );
}

/** @throws UsageError if the name is none of the tools that changed */
async function acceptTools(tools: Tools, entries: readonly string[], named: string): Promise<void> {
  const accepted: string[] = [];
  for (const entry of entries.filter((each) => named === each || named.startsWith(`${each}.`))) {
    for (const tool of await tools.look(entry)) {
      const isNamed = named === entry || named === `${entry}.${tool.tool}`;
      if (!isNamed || !('offered' in tool) || tool.pin !== 'changed') continue;
      await tools.accept(entry, tool);
      accepted.push(`${entry}.${tool.tool}`);
    }
  }
  if (accepted.length === 0)
    throw new UsageError(
      `there is no change of ${named} to accept: run "temporal-conductor tools" to see what changed`,
    );
  say(`Accepted: ${accepted.join(', ')}. Runs that begin from now on use it.`);
}
