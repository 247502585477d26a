import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { planSchema, solveTraceSchema } from '../../src/protocol/solve';
import type { Problem, SolveInput, TextRef, VisibleStep, WorkerRequest } from '../../src';
import { readExternalResult } from '../../src/protocol/planning';
import { FAILURES } from '../../src/protocol/failures';
import {
  type Background,
  type ConductorChange,
  isSolveInput,
  type LimitsInput,
  type PoolFilter,
  type Rights,
  solveInputSchema,
} from '../../src/protocol/input';
import { findLimitsProblem, LIMIT_RULES } from '../../src/protocol/messages';
import * as protocolNames from '../../src/protocol/names';
import { externalCard } from '../budget/cards';

// Users of other languages cannot read our types, only the tables of docs/other-sdks.md.

const PAGE = readFileSync(resolve(__dirname, '../../docs/other-sdks.md'), 'utf8');

/** Returns the rows of the tables below a heading: the other cells by the name in the first. */
function tablesOf(heading: string): Map<string, string[]> {
  const rank = heading.slice(0, heading.indexOf(' '));
  const [, after = ''] = PAGE.split(`\n${heading}\n`);
  const [section = ''] = after.split(`\n${rank} `);
  const rows = new Map<string, string[]>();
  let prefix = '';
  for (const line of section.split('\n')) {
    if (line.startsWith('#')) prefix = /^#+ `(.+)`:/.exec(line)?.[1]?.concat('.') ?? '';
    const [, name, ...cells] = line.split('|').map((cell) => cell.trim());
    if (name?.startsWith('`')) rows.set(prefix + name.slice(1, -1), cells);
  }
  return rows;
}

function namesIn(heading: string): string[] {
  return [...tablesOf(heading).keys()].sort();
}

/** Returns the fields of a type; the compiler makes sure that they are complete. */
function fields<Of extends object>(prefix: string, all: Readonly<Record<keyof Of, true>>): string[] {
  return Object.keys(all).map((name) => prefix + name);
}

test('the page documents every field of the input, and no other', () => {
  const known = Object.keys(solveInputSchema.shape);
  const limits = { steps: true, depth: true, calls: true, tokens: true, costUsd: true } as const;
  const parts = [
    ...fields<PoolFilter>('pool.', { allow: true, deny: true }),
    ...fields<LimitsInput>('limits.', { ...limits, wallClock: true, approval: true }),
    ...fields<ConductorChange>('conductor.', {
      name: true,
      checkpoint: true,
      examples: true,
      access: true,
    }),
    ...fields<Rights>('rights.', { models: true, limits: true }),
    ...fields<NonNullable<SolveInput['callerTools']>>('callerTools.', {
      list: true,
      names: true,
      lastStep: true,
      mustCall: true,
    }),
    ...fields<NonNullable<SolveInput['given']>>('given.', { plan: true, outputs: true }),
  ];
  expect(namesIn('## Input')).toEqual([...known, ...parts].sort());
});

test('the documented default limits are those of a configuration without limits', () => {
  const model = { provider: 'openai', model: 'm', baseUrl: 'http://127.0.0.1:1/v1' } as const;
  const { limits } = resolveRun(parseConfig({ conductor: model, workers: [{ id: 'a', ...model }] }));
  const told = [...tablesOf('## Input')].flatMap(([name, [, value]]) => {
    return name.startsWith('limits.') ? [[name.slice('limits.'.length), value]] : [];
  });
  const { steps, depth, calls, tokens, nanoUsd, wallClockMs, approvalMs } = limits;
  expect(Object.fromEntries(told)).toEqual({
    steps: `${steps}`,
    depth: `${depth}`,
    calls: `${calls}`,
    tokens: `${tokens}`,
    costUsd: `${(nanoUsd ?? NaN) / 1e9}`,
    wallClock: `${wallClockMs / 60_000}m`,
    approval: `${approvalMs / 60_000 / 60}h`,
  });
});

test.each([
  ['## Input', 2, (path: string, value: unknown) => isSolveInput(inputWith(path, value))],
  [
    '### Limits of `setLimits`',
    1,
    (name: string, value: unknown) => findLimitsProblem({ [name]: value }) === null,
  ],
])('%s: the documented bounds are the enforced ones', (heading, column, takes) => {
  const bounds = [...tablesOf(heading)].flatMap(([name, cells]) => {
    const [, least, most] = /^(?:from )?(\d+)(?: to ([\d,]+))?\b/.exec(cells[column] ?? '') ?? [];
    const isText = cells[column]?.includes('characters');
    const value = (count: number): unknown => (isText ? 'x'.repeat(count) : count);
    if (least === undefined) return [];
    const inside = [least, most ?? '1000'].map((bound) => Number(bound.replaceAll(',', '')));
    const outside = [Number(least) - 1, ...(most === undefined ? [] : [(inside[1] ?? NaN) + 1])];
    const isKept =
      inside.every((bound) => takes(name, value(bound))) &&
      outside.every((bound) => !takes(name, value(bound)));
    return [[name, isKept]];
  });
  expect(bounds.length).toBeGreaterThanOrEqual(6);
  expect(bounds.filter(([, isKept]) => !isKept)).toEqual([]);
});

/** Returns an input with a question and one more field at a path such as `limits.steps`. */
function inputWith(path: string, value: unknown): object {
  const [name = '', part] = path.split('.');
  return { question: 'Who?', [name]: part === undefined ? value : { [part]: value } };
}

test('the page documents every message, and no other', () => {
  const messages = Object.entries(protocolNames).flatMap(([name, value]) =>
    /_(?:SIGNAL|UPDATE|QUERY)$/.test(name) && typeof value === 'string' ? [value] : [],
  );
  expect(namesIn('## Messages')).toEqual([...messages, ...Object.keys(LIMIT_RULES)].sort());
  expect(namesIn('### Limits of `setLimits`')).toEqual(Object.keys(LIMIT_RULES).sort());
});

test('the page documents every type of failure, and no other', () => {
  expect(namesIn('## Failures')).toEqual(Object.values(FAILURES).sort());
});

/** Types that the page describes once, wherever they occur. */
const TYPES = [
  fields<Problem>('', { type: true, message: true }),
  fields<TextRef>('', { ref: true, bytes: true, preview: true }),
  ['steps'],
].map((names) => names.join());

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

/** Yields the path of every field below a schema. */
function* pathsIn({ properties = {}, items, anyOf = [] }: JsonSchema, path = ''): Generator<string> {
  for (const form of anyOf) yield* pathsIn(form, path);
  if (items !== undefined) yield* pathsIn(items, `${path}[]`);
  if (path !== '' && TYPES.includes(Object.keys(properties).join())) return;
  for (const [name, field] of Object.entries(properties)) {
    const inner = path === '' ? name : `${path}.${name}`;
    yield inner;
    yield* pathsIn(field, inner);
  }
}

function fieldsOf(schema: z.ZodType): string[] {
  return [...pathsIn(z.toJSONSchema(schema) as JsonSchema)];
}

test('the page documents every field of the result, and no other', () => {
  expect(namesIn('## Result')).toEqual(fieldsOf(solveTraceSchema).sort());
  const types = [
    ...fieldsOf(planSchema).map((name) => `plan.${name}`),
    ...fields<Problem>('problem.', { type: true, message: true }),
    ...fields<TextRef>('text.', { ref: true, bytes: true, preview: true }),
  ];
  expect(namesIn('## Types')).toEqual(types.sort());
});

test('the page documents every field that a worker in another language gets or may return, and no other', () => {
  // Leaves out the fields that only models get.
  const request = fields<Omit<WorkerRequest, 'sharesPrompt' | 'maxAnswerTokens' | 'toolTurn'>>('', {
    rootId: true,
    identity: true,
    question: true,
    subtask: true,
    sees: true,
    round: true,
    step: true,
    worker: true,
    fallbackFor: true,
    hasFallback: true,
    live: true,
    maxOutputTokens: true,
    seed: true,
    attempt: true,
    background: true,
    conversation: true,
    answerSchema: true,
    failed: true,
    earlierCalls: true,
    storeId: true,
    traceparent: true,
  });
  const parts = [
    ...fields<VisibleStep>('sees[].', { step: true, worker: true, subtask: true, output: true }),
    ...fields<Background>('background[].', { subtask: true, output: true }),
  ];
  const read = readExternalResult(
    { text: '', usage: { inputTokens: 1, outputTokens: 1 } },
    externalCard('a'),
  );
  const result = ['text', 'usage', ...Object.keys(read.usage ?? {}).map((name) => `usage.${name}`)];
  expect(namesIn('## A worker of your own')).toEqual([...request, ...parts, ...result].sort());
});
