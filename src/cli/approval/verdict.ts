import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { stringify } from 'yaml';
import { reasonOf } from '../../local/reason-of';
import type { Plan, PlanContext } from '../../plan/plan';
import { say } from '../terminal';
import { readPlan } from './read-plan';

/** What a person at a terminal decided about a plan. */
export type PersonDecision =
  | { readonly kind: 'approve' }
  | { readonly kind: 'edit'; readonly plan: Plan }
  | { readonly kind: 'reject'; readonly reason: string }
  /** Nothing: somebody else may, from elsewhere. */
  | { readonly kind: 'leave' };

/** A person who can be asked. */
export interface Person {
  /** null where nobody answers any more. */
  ask(prompt: string): Promise<string | null>;
  tell(text: string): void;
  /** Returns the text as the person left it. */
  edit(text: string): Promise<string>;
}

/** Asks about a plan until there is an answer that can be acted on. */
export async function askVerdict(person: Person, plan: Plan, context: PlanContext): Promise<PersonDecision> {
  let draft = writePlanFile(plan, context);
  for (;;) {
    const letter = letterOf(await person.ask('Approve, edit, reject, or leave it waiting? [a/e/r/l] '));
    if (letter === 'a') return { kind: 'approve' };
    if (letter === 'l') return { kind: 'leave' };
    if (letter === 'r') {
      const reason = await askReason(person);
      if (reason !== '') return { kind: 'reject', reason };
    }
    if (letter === 'e') {
      const before = draft;
      draft = await edit(person, before);
      const edited = draft === before ? null : read(person, draft, context);
      if (edited !== null) return { kind: 'edit', plan: edited };
    }
  }
}

/** Empty where the person has thought better of it. */
async function askReason(person: Person): Promise<string> {
  return (await person.ask('What shall the Conductor do differently? '))?.trim() ?? '';
}

/** Where nobody answers any more, the plan is left waiting. */
function letterOf(answer: string | null): string {
  return answer === null ? 'l' : answer.trim().toLowerCase().charAt(0);
}

/** A plan with a mistake stays a draft: nothing that was typed is lost. */
function read(person: Person, draft: string, context: PlanContext): Plan | null {
  try {
    return readPlan(draft, 'what you wrote', context);
  } catch (error) {
    person.tell(reasonOf(error));
    return null;
  }
}

async function edit(person: Person, draft: string): Promise<string> {
  try {
    return await person.edit(draft);
  } catch (error) {
    person.tell(reasonOf(error));
    return draft;
  }
}

/**
 * The person whose keyboard is standard input. Each question has a reader of its own, so that between two of them an
 * editor has the keyboard to itself; lines are left to the terminal, so that Ctrl-C stays a signal.
 *
 * @param signal takes a question back: it then rejects with an AbortError
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
    edit: (text) => editText(text, 'plan.yaml'),
  };
}

/**
 * Lets a person edit a text in `$VISUAL`, `$EDITOR` or vi.
 *
 * @throws Error where the editor cannot be started or ends with an error
 */
async function editText(text: string, name: string, env = process.env): Promise<string> {
  const editor = [env.VISUAL, env.EDITOR].find((value) => value !== undefined && value !== '') ?? 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'temporal-conductor-'));
  try {
    const file = join(folder, name);
    await writeFile(file, text);
    // By the shell, as git does it: the variable may hold arguments, e.g. "code --wait".
    const child = spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit', env });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0)
      throw new Error(`the editor "${editor}" ended with ${code ?? 'a signal'}: set EDITOR to another one`);
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A plan as a person edits it; `readPlan` reads it back. */
export function writePlanFile({ steps }: Plan, { workers }: Pick<PlanContext, 'workers'>): string {
  const notes = [
    '# Save and close to run this plan; leave it as it is to go back.',
    `# Workers: ${workers.join(', ')}.`,
    '# sees: the steps before, counted from 0, whose outputs a step is shown.',
  ];
  return `${notes.join('\n')}\n${stringify({ steps }, { lineWidth: 100, flowCollectionPadding: false })}`;
}
