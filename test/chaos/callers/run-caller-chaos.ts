import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { Turns } from '../../../src/runtime/turns';
import { audit } from '../audit';
import { type Finding, finding } from '../evidence';
import type { ChaosResult } from '../run-chaos';
import { questionsOf } from '../scenario';
import { strike } from '../strike';
import { type CallerVictim, type CallerWorld, inCallerWorld } from './caller-world';

export interface CallerChaosOptions {
  readonly seed: number;
  readonly solves: number;
  readonly kills: number;
  /** Path of the workflow bundle. */
  readonly bundle: string;
}

const CYCLE: readonly [CallerVictim, ...CallerVictim[]] = ['gateway', 'worker', 'gateway', 'server'];
/** Requests to models in a task without a kill: its plan and three turns. */
const REQUESTS_PER_TASK = 4;
/** Share of the progress in which kills come due. */
const DISTURBED = 0.8;
/** Longest time from the progress that makes a kill due to the kill. */
const LATE_MS = 150;
/** Tasks under way at the same time. */
const AT_ONCE = 4;
const MOST_RETRIES = 50;

/** What a client did for one task. */
interface Task {
  readonly id: string;
  readonly answer: string;
  /** Ids of the solves that the gateway named. */
  readonly solves: ReadonlySet<string>;
  /** Ids of the calls that it was told, by what they are about: a call that is told again has the same id. */
  readonly told: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Runs tasks of real OpenAI clients that carry out calls, while a seed's script kills gateway, workers and server. */
export async function runCallerChaos(options: CallerChaosOptions): Promise<ChaosResult> {
  const { seed, solves, kills: planned } = options;
  const began = Date.now();
  const folder = await mkdtemp(join(tmpdir(), `caller-chaos-${seed}-`));
  const { evidence, tasks } = await inCallerWorld({ ...options, folder }, async (world) => {
    const none = { rss: 0, heapUsed: 0 };
    const over = new AbortController();
    const last = DISTURBED * solves * REQUESTS_PER_TASK;
    const struck = { seed, kills: planned, cycle: CYCLE, last, lateMs: LATE_MS, ...world };
    const striking = strike(struck, over.signal);
    const turns = new Turns(AT_ONCE);
    const tasks = await Promise.all(
      [...questionsOf(seed, solves)].map(([id, question]) => turns.take(() => carryOut(world, id, question))),
    );
    over.abort();
    const kills = await striking;
    const memory = { before: none, after: none };
    const left = await world.leavings(tasks.flatMap((task) => [...task.solves]));
    return { evidence: { ...left, memory, kills, plannedKills: planned }, tasks };
  });
  const solved = [finding('one solve a task', `${evidence.runs.size} solves of ${tasks.length} tasks`)];
  const findings = [
    ...audit(evidence),
    ...tasks.flatMap(findingsOf),
    ...(evidence.runs.size === tasks.length ? [] : solved),
  ];
  const isClean = findings.length === 0;
  if (isClean) await rm(folder, { recursive: true, force: true });
  return { evidence, findings, folder: isClean ? null : folder, tookMs: Date.now() - began };
}

const TOOLS: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'carry_out',
      parameters: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
    },
  },
];

/** Carries out the calls of one task until it has its answer. The client repeats requests that break off. */
async function carryOut({ url, key: apiKey }: CallerWorld, id: string, question: string): Promise<Task> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: MOST_RETRIES });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }];
  const told = new Map<string, Set<string>>();
  const solves = new Set<string>();
  for (;;) {
    const asked = await client.chat.completions
      .create({ model: 'conductor', messages, tools: TOOLS })
      .withResponse()
      .catch((error: unknown) => String(error));
    if (typeof asked === 'string') return { id, answer: asked, solves, told };
    solves.add(asked.response.headers.get('x-conductor-solve') ?? '');
    const [{ message } = { message: { content: null } }] = asked.data.choices;
    if (!('tool_calls' in message)) return { id, answer: message.content ?? '', solves, told };
    messages.push(message, ...(message.tool_calls ?? []).flatMap((call) => resultOf(call, told)));
  }
}

/** Carries out a call, and notes under which id it was told. */
function resultOf(
  call: OpenAI.ChatCompletionMessageToolCall,
  told: Map<string, Set<string>>,
): OpenAI.ChatCompletionToolMessageParam[] {
  if (call.type !== 'function') return [];
  const { key } = JSON.parse(call.function.arguments) as { readonly key: string };
  told.set(key, (told.get(key) ?? new Set()).add(call.id));
  return [{ role: 'tool', tool_call_id: call.id, content: `done ${key}` }];
}

function findingsOf({ id, answer, told }: Task): Finding[] {
  const keys = ['first', 'second', 'third'].map((what) => `${id}:${what}`);
  const whole = `Done: ${keys.map((key) => `done ${key}`).join(', ')}`;
  const again = [...told].filter(([, ids]) => ids.size > 1).map(([key]) => key);
  return [
    ...(answer === whole ? [] : [finding('each result is applied once, in its place', answer, id)]),
    ...(again.length === 0 ? [] : [finding('a call is told under one id', again.join(', '), id)]),
  ];
}
