import { stringify } from 'yaml';
import { parseJson } from '../../../activities/models';
import type { ConductorClient } from '../../../client';
import { ConfigError } from '../../../config/errors';
import { readYaml } from '../../../config/load';
import { UsageError } from '../../../errors';
import { parsePlan } from '../../../plan/parse';
import type { Plan, PlanContext } from '../../../plan/plan';
import { PlanError } from '../../../plan/plan-error';
import { isRecord, validatePlan } from '../../../plan/validate';
import type { RoundTrace, SolveResult } from '../../../protocol/solve';
import { previewOf } from '../../../protocol/text';
import { describeEstimate, describeSteps } from '../../../trace/describe';
import { oneLine } from '../../../trace/lines';
import { callsOfPlan, waitingRounds } from '../../../trace/run-tree';
import { type WaitingCall, waitingCalls } from '../../../trace/waiting-calls';
import { harmless } from '../terminal';

export type Decider = Pick<
  ConductorClient,
  'planContext' | 'approvePlan' | 'editPlan' | 'rejectPlan' | 'decideCall'
>;

/** What a person may do about something that waits. */
export interface Choices {
  approve(): Promise<void>;
  /** Returns the text that the person edits. */
  write(): Promise<string>;
  /** @throws UsageError for an edited text that cannot be used */
  replace(edited: string): Promise<void>;
  readonly askWhy: string;
  reject(reason: string): Promise<void>;
}

export interface WaitingQuestion {
  /** Identifies what waits: asked about once. */
  readonly about: string;
  /** Run that takes the decision. */
  readonly run: string;
  /** All of it, so that nobody approves what they have not seen. */
  readonly text: string;
  readonly choices: Choices;
}

/** Returns what waits for a person in a run. */
export function questionsIn(trace: SolveResult, decider: Decider): WaitingQuestion[] {
  const plans = waitingRounds(trace).flatMap((round): WaitingQuestion[] => {
    const { childId, plan } = round;
    const run = childId ?? trace.id;
    if (plan === null) return [];
    const text = describePlan(run, plan, trace);
    return [{ about: planKey(trace, round), run, text, choices: planChoices(run, plan, decider) }];
  });
  const asked = trace.waitsFor === 'approval' ? waitingCalls(trace) : [];
  const calls = asked.map((call): WaitingQuestion => {
    const { run, id } = call;
    return { about: `${run} ${id}`, run, text: describeCall(call), choices: callChoices(call, decider) };
  });
  return [...plans, ...calls];
}

/** Identifies a waiting plan: a later plan of its run has another key, even if it is equal. */
function planKey(trace: SolveResult, round: RoundTrace): string {
  return JSON.stringify([round.childId, round.plan, callsOfPlan(trace.calls, round).length]);
}

const PREVIEW_COLUMNS = 200;

function describePlan(id: string, plan: Plan, { id: root, estimate, question }: SolveResult): string {
  const cost = estimate === undefined || id !== root ? '' : `, ${describeEstimate(estimate)}`;
  const title = `Run ${id} waits for approval of its plan${cost}:`;
  // A line of a subtask is indented below its step, so that it cannot pass for another step.
  const steps = describeSteps(plan, (subtask) => harmless(subtask).replaceAll('\n', '\n      '));
  return [oneLine(question, PREVIEW_COLUMNS), title, ...steps].join('\n');
}

function describeCall({ run, id, name, arguments: args }: WaitingCall): string {
  const shown = harmless(writeArguments(previewOf(args)).trimEnd()).replace(/^/gm, '  ');
  return `Run ${run} asks whether ${name} may be called (${id}), with these arguments:\n${shown}`;
}

export function planChoices(run: string, plan: Plan, decider: Decider): Choices {
  return {
    approve: () => decider.approvePlan(run, plan),
    write: async () => writePlanFile(plan, await decider.planContext(run)),
    replace: async (edited) => {
      await decider.editPlan(run, readPlan(edited, 'what you wrote', await decider.planContext(run)));
    },
    askWhy: 'What should the Conductor do differently? ',
    reject: (reason) => decider.rejectPlan(run, reason, { asOperator: true }),
  };
}

function callChoices({ run, id: call, arguments: args }: WaitingCall, decider: Decider): Choices {
  return {
    approve: () => decider.decideCall(run, { call, approve: true }),
    write: () => Promise.resolve(writeArguments(previewOf(args))),
    replace: (edited) =>
      decider.decideCall(run, { call, approve: true, arguments: readArguments(edited, 'what you wrote') }),
    askWhy: 'Why not? The model that asks is told: ',
    reject: (reason) => decider.decideCall(run, { call, approve: false, reason }),
  };
}

function writeArguments(json: string): string {
  return `${JSON.stringify(parseJson(json) ?? json, null, 2)}\n`;
}

/** Reads the arguments of a call, in JSON or YAML. @throws UsageError */
export function readArguments(text: string, name: string): Record<string, unknown> {
  const { content } = readYaml(text, name);
  if (isRecord(content)) return content;
  throw new UsageError(`${name} holds no arguments: expected an object, in JSON or YAML`);
}

/** Writes a plan as a person edits it, steps counted from 1; `readPlan` reads it back. */
export function writePlanFile({ steps }: Plan, { workers }: Pick<PlanContext, 'workers'>): string {
  const notes = [
    '# Save and close to run this plan; leave it as it is to go back.',
    `# Workers: ${workers.join(', ')}.`,
    '# sees: the earlier steps, counted from 1, whose outputs a step is shown.',
  ];
  const shown = steps.map((step) => ({ ...step, sees: step.sees.map((seen) => seen + 1) }));
  return `${notes.join('\n')}\n${stringify({ steps: shown }, { lineWidth: 100, flowCollectionPadding: false })}`;
}

/**
 * Reads a plan in YAML (steps from 1), JSON (from 0, as in all our JSON) or the Conductor's three lists.
 * @throws UsageError with what is wrong, where, and what to write instead
 */
export function readPlan(text: string, name: string, context: PlanContext): Plan {
  // A subtask may mention "model_id", too.
  const isLists = /\bmodel_ids?\b/.test(text) && !/^steps:/m.test(text);
  try {
    if (isLists) return parsePlan(text, context);
    return validatePlan(readYaml(text, name).content, context, {
      firstStep: parseJson(text) === null ? 1 : 0,
    });
  } catch (error) {
    if (!(error instanceof PlanError) && !(error instanceof ConfigError)) throw error;
    const ordinals = context.workers.map((id, ordinal) => `${ordinal} ${id}`).join(', ');
    const workers = isLists ? `\nWorkers: ${ordinals}.` : '';
    throw new UsageError(`${name} cannot be used as a plan. ${error.message}${workers}`, { cause: error });
  }
}
