import { activityInfo } from '@temporalio/activity';
import type { ToolCard } from '../../protocol/tool-cards';
import type { OfferedTool } from '../../protocol/parts';
import { CALLER_TOOLS, type ListedTool, type ListedTools } from '../../protocol/tool-use';
import { callerToolsSchema } from '../../protocol/caller-tools';
import { jsonBytes } from '../../plan/plan';
import type { Store } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import { readOffered, referenceIn } from '../tool-turns';
import { type ToolDependencies, unsent } from './call-tool';
import { isLasting } from './connections';
import { safeName } from './offered-name';
import { checkPin } from './pins';
import { readServerTools } from './server-tools';

/** Most tools of one run: vendors take no more. */
const MAX_TOOLS = 128;
/** Attempts to list the tools of a server that may be starting; then the run goes on without them. */
const MAX_ATTEMPTS = 3;

interface Found {
  readonly listed: ListedTool;
  readonly offered: OfferedTool;
}

/**
 * Activity `conductor.listTools`: fixes the tools of a run. A tool that its server does not have, or that cannot be
 * offered, is missing with a reason; the run goes on without it.
 * @param before tools that were fixed already; of these, the caller's are listed anew
 */
export async function listTools(
  dependencies: ToolDependencies,
  cards: readonly ToolCard[],
  before?: ListedTools,
): Promise<ListedTools> {
  const { store, connections } = dependencies;
  const { attempt } = activityInfo();
  const problems: string[] = [];
  const found = before === undefined ? [] : await readFixed(store, before);
  for (const card of cards) {
    if (card.kind === 'caller') found.push(...(await toolsOfCaller(store, card)));
    else if (card.kind !== 'mcp') found.push(ownTool(card));
    else {
      try {
        found.push(...(await toolsOfServer(card, dependencies, problems)));
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
  const list = referenceIn(await keepText(store, JSON.stringify(kept.map(({ offered }) => offered)), 0));
  return { list, tools: kept.map(({ listed }) => listed), problems };
}

/** Returns the tools of an earlier list that stay whatever the caller brings. */
async function readFixed(store: Store, { list, tools }: ListedTools): Promise<Found[]> {
  const all = await readOffered(store, list);
  return tools.flatMap((listed) => {
    const offered = all.find(({ name }) => name === listed.name);
    return offered === undefined || listed.card === CALLER_TOOLS ? [] : [{ listed, offered }];
  });
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

/** A caller may carry out any number of its functions at once, and is asked by its own names. */
async function toolsOfCaller(store: Store, { name: card, list }: CardOf<'caller'>): Promise<Found[]> {
  const tools = callerToolsSchema.parse(JSON.parse(await readText(store, list)));
  return tools.map(({ name: tool, description = '', parameters: input, format }) => {
    const name = safeName(tool);
    const offered = { name, description, input, ...(format !== undefined && { format }) };
    return foundAs({ card, tool, name, repeatable: true, approve: false }, offered);
  });
}

type CardOf<Kind extends ToolCard['kind']> = Extract<ToolCard, { readonly kind: Kind }>;

function ownTool(card: CardOf<'activity' | 'workflow'>): Found {
  const { name, description, input, repeatable, approve } = card;
  const listed = { card: name, tool: name, name, repeatable, approve, ...priceOf(card) };
  return foundAs(listed, { name, description, input });
}

function priceOf({ price }: CardOf<'mcp' | 'activity' | 'workflow'>): Pick<ListedTool, 'price'> {
  return price === undefined ? {} : { price };
}

function foundAs(listed: Omit<ListedTool, 'bytes'>, offered: OfferedTool): Found {
  return { listed: { ...listed, bytes: jsonBytes(offered) + OVERHEAD }, offered };
}

/** Bytes of what a vendor writes around a tool. */
const OVERHEAD = 256;

async function toolsOfServer(
  card: CardOf<'mcp'>,
  { store, connections }: ToolDependencies,
  problems: string[],
): Promise<Found[]> {
  const { name: entry, allow, repeatable, approve } = card;
  const found: Found[] = [];
  for (const here of await readServerTools(connections, entry, allow)) {
    const { tool } = here;
    const pin = 'offered' in here ? await checkPin(store, entry, here) : 'same';
    if (!('offered' in here)) problems.push(here.problem);
    else if (pin === 'changed') problems.push(`${entry}.${tool} is withheld: ${CHANGED}`);
    else {
      const place = { card: entry, tool, name: here.offered.name };
      const rights = { repeatable: repeatable.includes(tool), approve: approve.includes(tool) };
      found.push(foundAs({ ...place, ...rights, ...priceOf(card) }, here.offered));
    }
  }
  return found;
}

const CHANGED =
  'its server describes it in another way than when it was first used; "temporal-conductor tools" shows how, and ' +
  'accepts it';
