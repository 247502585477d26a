import { z } from 'zod';
import { isLoopback } from '../network/proxy';
import type { ResolvedRun, RunWorker } from '../protocol/cards';
import { callPriceSchema, type ToolCard, type Toolset } from '../protocol/tool-cards';
import { durationMs } from './duration';
import { ConfigError, someOf } from './errors';
import { baseUrlSchema, durationSchema, keyNameSchema } from './field-schemas';

const name = z.string().min(1).max(128);

/** Name of an entry in `tools:`, with room for a tool's own name beside it in the 64 characters that vendors take. */
const entryName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);
const ENTRY_NAME = 'expected up to 32 lowercase letters, digits and dashes, beginning with a letter';

const urlSchema = baseUrlSchema.refine((text) => !text.startsWith('http:') || isLoopback(new URL(text)), {
  error: 'expected https; http is for servers of this machine, such as http://127.0.0.1:3000/mcp',
});

/** Server that speaks the Model Context Protocol: at an address, or a program that each worker process starts. */
const serverSchema = z.union(
  [
    z.strictObject({
      url: urlSchema,
      /** Headers, each with the variable that holds its value. */
      headersEnv: z.record(z.string().regex(/^[A-Za-z0-9-]{1,64}$/), keyNameSchema).default({}),
    }),
    z.strictObject({
      command: z.array(z.string().min(1)).min(1),
      /** Variables that the program is given, besides HOME, PATH and the like. */
      env: z.array(keyNameSchema).default([]),
    }),
  ],
  { error: 'expected { url: https://… } or { command: [program, argument, …] }' },
);

const mcpSchema = z.strictObject({
  mcp: serverSchema,
  /** Exact names of the tools that cards may list. */
  allow: z.array(name).min(1, { error: 'expected the names of the tools that may be called' }),
  /** Tools that may be called twice in place of once, since that changes nothing. */
  repeatable: z.array(name).default([]),
  /** Tools of which a person decides on each call. */
  approve: z.array(name).default([]),
  timeout: durationSchema.default('60s'),
  /** What a call of any of its tools costs. */
  price: callPriceSchema.exactOptional(),
});

const ownTool = {
  description: z.string().trim().min(1).max(1000),
  /** JSON schema of the arguments. */
  input: z.looseObject({ type: z.literal('object') }, { error: 'expected a JSON schema of type: object' }),
  repeatable: z.boolean().default(false),
  approve: z.boolean().default(false),
  timeout: durationSchema.default('60s'),
  price: callPriceSchema.exactOptional(),
};
/** Without a queue, it is registered on the workers of the run itself. */
const called = z.strictObject({ type: name, taskQueue: name.optional() });

const toolSchema = z.union(
  [
    mcpSchema,
    z.strictObject({ activity: called, ...ownTool }),
    z.strictObject({ workflow: called, ...ownTool }),
  ],
  {
    error:
      'expected a tool: { mcp, allow }, { activity, description, input } or { workflow, description, input }',
  },
);

export const toolsSchema = z.record(entryName, toolSchema, {
  error: ({ code }) => (code === 'invalid_key' ? ENTRY_NAME : undefined),
});

type ToolConfig = z.output<typeof toolSchema>;

/** A configuration, as far as it is about tools. */
interface WithTools {
  readonly tools: Readonly<Record<string, ToolConfig>>;
}

interface ListedCards {
  readonly workers: readonly object[];
  readonly baselines: readonly object[];
}

type ToolLimits = Readonly<Record<'toolTurns' | 'toolCalls' | 'toolResultBytes', number>>;

export type ServerConfig = Extract<ToolConfig, { readonly mcp: unknown }>;

/** Names in a card's `tools`: `github` for all that the entry allows, `github.search_issues` for one of them. */
export const cardToolsSchema = z.array(z.string().min(1)).min(1);

type Report = (path: PropertyKey[], message: string) => void;

/** Checks the entries against themselves, and the cards against the entries. */
export function checkTools(config: WithTools & ListedCards, context: z.RefinementCtx): void {
  const report: Report = (path, message) => {
    context.addIssue({ code: 'custom', path, message });
  };
  checkEntries(config, report);
  checkCards(config, report);
}

function checkEntries({ tools }: WithTools, report: Report): void {
  for (const [entry, tool] of Object.entries(tools)) {
    if (!('mcp' in tool)) continue;
    for (const list of ['repeatable', 'approve'] as const) {
      for (const [index, each] of tool[list].entries()) {
        if (tool.allow.includes(each)) continue;
        report(['tools', entry, list, index], `expected one of ${someOf(tool.allow)}, which it allows`);
      }
    }
  }
}

function checkCards({ tools, workers, baselines }: WithTools & ListedCards, report: Report): void {
  const known = Object.entries(tools).flatMap(([entry, tool]) => [entry, ...namesIn(entry, tool)]);
  const remedy = known.length === 0 ? 'add it to "tools:"' : `expected one of ${someOf(known)}`;
  for (const [index, worker] of workers.entries()) {
    for (const [place, listed] of listedBy(worker).entries()) {
      if (!known.includes(listed)) report(['workers', index, 'tools', place], remedy);
    }
  }
  for (const [index, baseline] of baselines.entries()) {
    if (listedBy(baseline).length === 0) continue;
    report(['baselines', index, 'tools'], 'evaluations ask baselines without tools; remove it');
  }
}

function listedBy(card: object): readonly string[] {
  const { tools = [] } = card as { readonly tools?: readonly string[] };
  return tools;
}

function namesIn(entry: string, tool: ToolConfig): string[] {
  return 'mcp' in tool ? tool.allow.map((each) => `${entry}.${each}`) : [];
}

/**
 * Returns the tools of a run: those that its workers list. It names servers and no addresses, programs or variables:
 * what is called is decided by the configuration of the worker process that calls.
 */
export function resolveToolset(
  { tools, limits }: WithTools & { readonly limits: ToolLimits },
  workers: readonly RunWorker[],
): Toolset | undefined {
  const listed = new Set(workers.flatMap((worker) => (worker.kind === 'model' ? (worker.tools ?? []) : [])));
  const cards = Object.entries(tools).flatMap(([entry, tool]): ToolCard[] => {
    const common = {
      name: entry,
      timeoutMs: durationMs(tool.timeout),
      ...(tool.price && { price: tool.price }),
    };
    if ('mcp' in tool) {
      const allow = tool.allow.filter((each) => listed.has(entry) || listed.has(`${entry}.${each}`));
      const { repeatable, approve } = tool;
      return allow.length === 0 ? [] : [{ kind: 'mcp', allow, repeatable, approve, ...common }];
    }
    if (!listed.has(entry)) return [];
    const { description, input, repeatable, approve } = tool;
    const [kind, where] =
      'activity' in tool ? (['activity', tool.activity] as const) : (['workflow', tool.workflow] as const);
    return [{ kind, ...where, description, input, repeatable, approve, ...common }];
  });
  if (cards.length === 0) return undefined;
  return { cards, turns: limits.toolTurns, calls: limits.toolCalls, resultBytes: limits.toolResultBytes };
}

/**
 * Refuses a run that may carry out a call many times for its questions, if it could change something by that.
 * @param what what is started, e.g. `a night`
 * @throws ConfigError that names the tools
 */
export function refuseUnrepeatable(
  { toolset, workers }: Pick<ResolvedRun, 'toolset' | 'workers'>,
  what: string,
): void {
  const listed = new Set(workers.flatMap((worker) => (worker.kind === 'model' ? (worker.tools ?? []) : [])));
  const used = (toolset?.cards ?? []).flatMap((card) => {
    if (card.kind === 'caller') return [];
    if (card.kind !== 'mcp') return listed.has(card.name) ? [card] : [];
    const { name: entry, allow, repeatable, approve } = card;
    return allow
      .filter((tool) => listed.has(entry) || listed.has(`${entry}.${tool}`))
      .map((tool) => ({
        name: `${entry}.${tool}`,
        repeatable: repeatable.includes(tool),
        approve: approve.includes(tool),
      }));
  });
  const namesOf = (some: typeof used): string => someOf(some.map(({ name }) => name));
  const once = used.filter(({ repeatable }) => !repeatable);
  if (once.length > 0) {
    throw new ConfigError(
      `${what} asks the same workers again and again, and they may call ${namesOf(once)}, which is not repeatable: add it ` +
        'to "repeatable" under "tools:" if a second call changes nothing, or take it off the cards',
    );
  }
  const asked = used.filter(({ approve }) => approve);
  if (asked.length === 0) return;
  throw new ConfigError(
    `${what} has nobody to ask, and its workers may call ${namesOf(asked)}, of which a person decides: take it off ` +
      '"approve" under "tools:", or off the cards',
  );
}

/**
 * Returns what `tools:` would do with this user's rights, as `NAME=place`: programs that are started, servers that are
 * told what runs ask, and variables that they are sent.
 */
export function errandsOfTools({ tools }: WithTools): string[] {
  return Object.values(tools).flatMap((tool) => {
    if (!('mcp' in tool)) return [];
    const { mcp } = tool;
    // The list of what is trusted is separated by commas.
    if ('command' in mcp) return [`PROGRAM=${mcp.command.join(' ').replaceAll(',', '%2C')}`];
    const { origin } = new URL(mcp.url);
    return [`TOOLS=${origin}`, ...Object.values(mcp.headersEnv).map((name) => `${name}=${origin}`)];
  });
}
