import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { parseJson } from '../../../activities/models';
import { type ConductorClient, RefusedError } from '../../../client';
import { ConfigError } from '../../../config/errors';
import { readYaml } from '../../../config/load';
import { UsageError } from '../../../errors';
import { parsePlan } from '../../../plan/parse';
import type { Plan, PlanContext } from '../../../plan/plan';
import { PlanError } from '../../../plan/plan-error';
import { validatePlan } from '../../../plan/validate';
import type { RoundTrace, SolveResult } from '../../../protocol/solve';
import { startProgram } from '../../../runtime/start-program';
import { describeEstimate, describeSteps } from '../../../trace/describe';
import { oneLine } from '../../../trace/lines';
import { callsOfPlan, waitingRounds } from '../../../trace/run-tree';
import { ask, harmless, say } from '../terminal';

export interface Person {
  /** Returns null once input is closed; rejects if the signal withdraws the question. */
  ask(prompt: string, signal: AbortSignal): Promise<string | null>;
  tell(text: string): void;
  edit(text: string): Promise<string>;
}

export const PERSON_AT_TERMINAL: Person = { ask, tell: say, edit: editText };

export interface Asking {
  readonly decider: Pick<ConductorClient, 'planContext' | 'approvePlan' | 'editPlan' | 'rejectPlan'>;
  readonly person: Person;
  readonly whilePaused: (work: () => Promise<void>) => Promise<void>;
}

/** Asks a person about the waiting plans of a run: about each once, one at a time. */
export class PlanQuestions {
  /** Resolves with the id of a run whose plan is left for later; rejects with the first failure to ask or decide. */
  readonly left: Promise<{ readonly left: string }>;
  private readonly asked = new Set<string>();
  private isClosed = false;
  private latest: SolveResult | null = null;
  private current: { readonly about: string; readonly stop: AbortController } | null = null;
  private leave: (plan: { readonly left: string }) => void = () => undefined;
  private fail: (error: unknown) => void = () => undefined;

  constructor(private readonly asking: Asking) {
    this.left = new Promise((resolve, reject) => {
      this.leave = resolve;
      this.fail = reject;
    });
    this.left.catch(() => undefined);
  }

  /** Takes the newest trace: asks about a waiting plan, and withdraws a question that was decided elsewhere. */
  consider(trace: SolveResult): void {
    this.latest = trace;
    const waiting = waitingRounds(trace).map((round) => ({ round, about: planKey(trace, round) }));
    if (this.current !== null) {
      if (!waiting.some(({ about }) => about === this.current?.about)) this.current.stop.abort();
      return;
    }
    const next = waiting.find(({ about }) => !this.asked.has(about));
    if (next !== undefined) void this.ask(trace, next.round, next.about);
  }

  close(): void {
    this.isClosed = true;
    this.current?.stop.abort();
  }

  private async ask(trace: SolveResult, { childId, plan }: RoundTrace, about: string): Promise<void> {
    const stop = new AbortController();
    this.current = { about, stop };
    this.asked.add(about);
    const id = childId ?? trace.id;
    try {
      await this.asking.whilePaused(async () => {
        if (plan === null) return;
        this.asking.person.tell(describePlan(id, plan, trace));
        if (!(await askVerdict(id, plan, this.asking, stop.signal))) this.leave({ left: id });
      });
    } catch (error) {
      if (!stop.signal.aborted) this.fail(error);
    }
    this.current = null;
    if (!this.isClosed) this.consider(this.latest ?? trace);
  }
}

/** Identifies a waiting plan: a later plan of its run has another key, even if it is equal. */
function planKey(trace: SolveResult, round: RoundTrace): string {
  return JSON.stringify([round.childId, round.plan, callsOfPlan(trace.calls, round).length]);
}

const PREVIEW_COLUMNS = 200;

/** Describes the whole plan, so that nobody approves what they have not seen. */
function describePlan(id: string, plan: Plan, { id: root, estimate, question }: SolveResult): string {
  const cost = estimate === undefined || id !== root ? '' : `, ${describeEstimate(estimate)}`;
  const title = `Run ${id} waits for approval of its plan${cost}:`;
  // A line of a subtask is indented below its step, so that it cannot pass for another step.
  const steps = describeSteps(plan, (subtask) => harmless(subtask).replaceAll('\n', '\n      '));
  return [oneLine(question, PREVIEW_COLUMNS), title, ...steps].join('\n');
}

/** Asks about a plan until the run accepts a decision; false if it is left for later. Keeps an edited text. */
export async function askVerdict(
  id: string,
  plan: Plan,
  { person, decider }: Pick<Asking, 'person' | 'decider'>,
  signal: AbortSignal,
): Promise<boolean> {
  let draft: string | null = null;
  /** Returns whether a decision was sent; an unchanged plan or an empty reason means a second thought. */
  const decide = async (letter: string): Promise<boolean> => {
    if (letter === 'a') await decider.approvePlan(id, plan);
    else if (letter === 'e') {
      const context = await decider.planContext(id);
      const shown: string = draft ?? writePlanFile(plan, context);
      draft = await person.edit(shown);
      if (draft === shown) return false;
      await decider.editPlan(id, readPlan(draft, 'what you wrote', context));
    } else if (letter === 'r') {
      const reason = (await person.ask('What should the Conductor do differently? ', signal))?.trim();
      if (!reason) return false;
      await decider.rejectPlan(id, reason, { asOperator: true });
    } else return false;
    return true;
  };
  for (;;) {
    const answer = (await person.ask('Approve, edit, reject, or later? [a/e/r/l] ', signal)) ?? 'later';
    const letter = answer.trim().toLowerCase().charAt(0);
    if (letter === 'l') return false;
    try {
      if (await decide(letter)) return true;
    } catch (error) {
      if (!(error instanceof RefusedError) && !(error instanceof UsageError)) throw error;
      person.tell(error.message);
    }
  }
}

/** Opens a text in the person's editor. @throws UsageError if the editor fails */
async function editText(text: string): Promise<string> {
  const { VISUAL, EDITOR } = process.env;
  const editor = [VISUAL, EDITOR].find(Boolean) ?? 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'temporal-conductor-'));
  try {
    const file = join(folder, 'plan.yaml');
    await writeFile(file, text);
    // Uses the shell, as git does: the variable may contain arguments, e.g. "code --wait".
    const setting = { cwd: folder, passes: 'all', shell: true, stdio: 'inherit' } as const;
    const [code] = (await once(startProgram(`${editor} "${file}"`, [], setting), 'close')) as [number | null];
    if (code === 0) return await readFile(file, 'utf8');
    const end = code ?? 'a signal';
    throw new UsageError(`the editor "${editor}" ended with ${end}: set EDITOR to another one`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
