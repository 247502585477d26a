import type * as Sdk from '@modelcontextprotocol/server' with { 'resolution-mode': 'import' };
import type * as Stdio from '@modelcontextprotocol/server/stdio' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import type { LiveEvent, SolveHandle } from '../../client';
import { ConfigError } from '../../config/errors';
import { needsPackages, reasonOf } from '../../errors';
import { limitsInputSchema } from '../../protocol/input';
import type { SolveResult } from '../../protocol/solve';
import { toldSolveSchema } from '../../trace/told-solve';
import { within } from '../../runtime/turns';
import { readVersion } from '../../runtime/version';
import { describeCost } from '../../trace/describe';
import { refusalOfRun } from '../refusal';
import { AnswerTeller } from '../solve/told';

// The server of the Model Context Protocol (https://modelcontextprotocol.io) by which clients ask the team, over HTTP and
// over stdio alike.

const questionSchema = z.strictObject({
  question: z.string().describe('The whole question, with everything that is needed to answer it.'),
  limits: limitsInputSchema
    .optional()
    .describe(
      'Lower limits than the configured ones: costUsd, calls, tokens, steps of a plan, depth of recursion; wallClock and approval are durations such as "10m".',
    ),
});
export type TeamQuestion = z.infer<typeof questionSchema>;

/** Starts, follows and reads solves in the name of a client. */
export interface ConsultedTeam {
  start(asked: TeamQuestion): Promise<SolveHandle>;
  follow(id: string, signal: AbortSignal): AsyncIterable<LiveEvent>;
  read(id: string): Promise<SolveResult>;
  /** Returns what a client is told of an error. */
  explain(error: unknown): string;
}

/** Loads the protocol's package. @throws ConfigError if it is not installed */
export async function importMcp(): Promise<typeof Sdk & typeof Stdio> {
  try {
    const [sdk, stdio] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    return { ...sdk, ...stdio };
  } catch (error) {
    const what = 'serving clients of the Model Context Protocol';
    throw new ConfigError(needsPackages(what, ['@modelcontextprotocol/server@2'], reasonOf(error)), {
      cause: error,
    });
  }
}

const SOLVE =
  'Has a team of language models answer a question: a plan is written, workers carry it out. It costs money, and takes seconds to many minutes. Returns the answer, and the id and cost of the solve. A solve goes on if this call is cancelled or times out: get_solve reads it.';

/** Returns a server with the tools `solve` and `get_solve`. */
export function serverOfTeam(
  { McpServer }: Pick<typeof Sdk, 'McpServer'>,
  team: ConsultedTeam,
): Sdk.McpServer {
  const server = new McpServer({ name: 'temporal-conductor', version: readVersion() });
  server.registerTool(
    'solve',
    {
      description: SOLVE,
      inputSchema: questionSchema,
      outputSchema: toldSolveSchema,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    },
    (asked, { mcpReq }) => solveFor(team, asked, mcpReq),
  );
  server.registerTool(
    'get_solve',
    {
      description: 'Reads a solve by its id, running or ended: its state, answer and cost so far.',
      inputSchema: z.strictObject({ id: z.string().min(1).max(1000) }),
      outputSchema: toldSolveSchema,
      annotations: { readOnlyHint: true },
    },
    ({ id }) => team.read(id).then(described, (error: unknown) => failed(team.explain(error))),
  );
  return server;
}

type Call = Pick<Sdk.ServerContext['mcpReq'], '_meta' | 'signal' | 'notify'>;

async function solveFor(team: ConsultedTeam, asked: TeamQuestion, call: Call): Promise<Sdk.CallToolResult> {
  let id: string | null = null;
  try {
    const started = await team.start(asked);
    ({ id } = started);
    // The result counts, whatever becomes of the progress.
    await tellProgress(team, id, call).catch(() => undefined);
    const result = await started.result();
    return { ...described(result), isError: result.answer === null };
  } catch (error) {
    const rest = id === null ? '' : `; solve ${id} goes on: get_solve reads it`;
    return failed(`${team.explain(error)}${rest}`);
  }
}

/** Longest silence: clients that wait while there is progress give up on a silent call, some after a minute. */
const SILENCE_MS = 10_000;

/** Sends a line for each plan, step and wait of a solve, if the client wants to be told. */
async function tellProgress(team: ConsultedTeam, id: string, { _meta, signal, notify }: Call): Promise<void> {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return;
  let progress = 0;
  const send = (message: string): Promise<void> => {
    progress += 1;
    return notify({ method: 'notifications/progress', params: { progressToken, progress, message } });
  };
  await send(`Solve ${id}`);
  const teller = new AnswerTeller();
  const events = team.follow(id, signal)[Symbol.asyncIterator]();
  try {
    for (let next = events.next(); ;) {
      const news = await within(SILENCE_MS, next);
      if (news?.done === true) return;
      if (news === null) await send(`Solve ${id} is still running`);
      else {
        for (const told of teller.tell(news.value)) if (told.kind === 'progress') await send(told.line);
        next = events.next();
      }
    }
  } finally {
    void events.return?.().catch(() => undefined);
  }
}

function described(result: SolveResult): Sdk.CallToolResult {
  const { id, status, answer } = result;
  const none = status === 'running' ? 'It has no answer yet.' : refusalOfRun(result).message;
  const texts = [answer ?? none, `Solve ${id}: ${status}, ${describeCost(result)}`];
  return {
    content: texts.map((text) => ({ type: 'text', text })),
    structuredContent: toldSolveSchema.parse(result),
  };
}

function failed(text: string): Sdk.CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
