import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { reasonOf } from '../../reason-of';
import type { Plan, PlanContext } from '../../plan/plan';
import { say } from '../terminal';
import { readPlan, writePlanFile } from './plan-file';

/** What a person at a terminal decided about a plan; `leave` is nothing: someone else may, from elsewhere. */
export type PersonDecision =
  | { readonly kind: 'approve' | 'leave' }
  | { readonly kind: 'edit'; readonly plan: Plan }
  | { readonly kind: 'reject'; readonly reason: string };

export interface Person {
  /** null where no one answers any more. */
  ask(prompt: string): Promise<string | null>;
  tell(text: string): void;
  edit(text: string): Promise<string>;
}

const DECIDED: Readonly<Record<string, 'approve' | 'leave' | undefined>> = { a: 'approve', l: 'leave' };

/** Asks about a plan until there is an answer that can be acted on. */
export async function askVerdict(person: Person, plan: Plan, context: PlanContext): Promise<PersonDecision> {
  let draft = writePlanFile(plan, context);
  for (;;) {
    // Where no one answers any more, the plan is left waiting.
    const answer = (await person.ask('Approve, edit, reject, or leave it waiting? [a/e/r/l] ')) ?? 'l';
    const letter = answer.trim().toLowerCase().charAt(0);
    const decided = DECIDED[letter];
    if (decided !== undefined) return { kind: decided };
    if (letter === 'r') {
      // Without a reason, the person has thought better of it.
      const reason = (await person.ask('What should the Conductor do differently? '))?.trim();
      if (reason) return { kind: 'reject', reason };
    }
    if (letter === 'e') {
      try {
        const edited = await person.edit(draft);
        const isChanged = edited !== draft;
        // A plan with a mistake stays a draft: nothing that was typed is lost.
        draft = edited;
        if (isChanged) return { kind: 'edit', plan: readPlan(edited, 'what you wrote', context) };
      } catch (error) {
        person.tell(reasonOf(error));
      }
    }
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
    const child = spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit', env });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) {
      throw new Error(`the editor "${editor}" ended with ${code ?? 'a signal'}: set EDITOR to another one`);
    }
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
