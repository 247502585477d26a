import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { ConductorClient } from '../../client/conductor-client';
import { RefusedError } from '../../client/steer';
import type { Plan } from '../../plan/plan';
import { reasonOf } from '../../reason-of';
import { startProgram } from '../../start-program';
import { UsageError } from '../exit-code';
import { say } from '../terminal';
import { readPlan, writePlanFile } from './plan-file';

/** Part of `ConductorClient` that decides on plans. */
export type Decider = Pick<ConductorClient, 'planContext' | 'approvePlan' | 'editPlan' | 'rejectPlan'>;

export interface Person {
  /** Null if no one answers any more. */
  ask(prompt: string): Promise<string | null>;
  tell(text: string): void;
  edit(text: string): Promise<string>;
}

/**
 * Asks about the plan of a run until the run has taken an answer. What the run refuses is told, and asked again; text that
 * was typed in the editor is kept for the next try.
 *
 * @returns `later` where the plan is left waiting
 */
export async function askVerdict(
  person: Person,
  id: string,
  plan: Plan,
  decider: Decider,
): Promise<'decided' | 'later'> {
  let draft: string | null = null;
  // Each tells whether the run was told anything.
  const deeds: Readonly<Record<string, (() => Promise<boolean>) | undefined>> = {
    a: async () => {
      // Approves the plan that was shown, and no other that came meanwhile.
      await decider.approvePlan(id, plan);
      return true;
    },
    e: async () => {
      const context = await decider.planContext(id);
      const shown = draft ?? writePlanFile(plan, context);
      draft = await editWith(person, shown);
      if (draft === shown) return false;
      await decider.editPlan(id, readPlan(draft, 'what you wrote', context));
      return true;
    },
    r: async () => {
      const reason = (await person.ask('What should the Conductor do differently? '))?.trim();
      // Without a reason, the person has thought better of it.
      if (!reason) return false;
      await decider.rejectPlan(id, reason);
      return true;
    },
  };
  for (;;) {
    const answer = (await person.ask('Approve, edit, reject, or later? [a/e/r/l] ')) ?? 'later';
    const letter = answer.trim().toLowerCase().charAt(0);
    if (letter === 'l') return 'later';
    try {
      if ((await deeds[letter]?.()) === true) return 'decided';
    } catch (error) {
      const isMistake = error instanceof RefusedError || error instanceof UsageError;
      if (!isMistake) throw error;
      person.tell(error.message);
    }
  }
}

/** @throws UsageError where the editor fails: the person may set another, or decide without one */
async function editWith(person: Person, text: string): Promise<string> {
  try {
    return await person.edit(text);
  } catch (error) {
    throw new UsageError(reasonOf(error), { cause: error });
  }
}

/**
 * The person whose keyboard is standard input. Each question has a reader of its own, so that between two of them an
 * editor has the keyboard to itself; lines are left to the terminal, so that Ctrl-C stays a signal.
 * `signal` takes a question back, which then rejects with an AbortError.
 */
export function personAtTerminal(signal: AbortSignal): Person {
  return {
    ask: async (prompt) => {
      const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
      const closed = once(reader, 'close').then(() => null);
      try {
        return await Promise.race([reader.question(prompt, { signal }), closed]);
      } finally {
        reader.close();
      }
    },
    tell: say,
    edit: editText,
  };
}

/** In `$VISUAL`, `$EDITOR` or vi. @throws Error where the editor ends with an error */
async function editText(text: string): Promise<string> {
  const { env } = process;
  const editor = [env.VISUAL, env.EDITOR].find((value) => value !== undefined && value !== '') ?? 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'temporal-conductor-'));
  try {
    const file = join(folder, 'plan.yaml');
    await writeFile(file, text);
    // By the shell, as git does it: the variable may hold arguments, e.g. "code --wait".
    const setting = { cwd: folder, passes: 'all', shell: true, stdio: 'inherit' } as const;
    const child = startProgram(`${editor} "${file}"`, [], setting);
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) {
      throw new Error(`the editor "${editor}" ended with ${code ?? 'a signal'}: set EDITOR to another one`);
    }
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
