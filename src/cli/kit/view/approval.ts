import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RefusedError } from '../../../client';
import { UsageError } from '../../../errors';
import type { SolveResult } from '../../../protocol/solve';
import { startProgram } from '../../../runtime/start-program';
import { ask, say } from '../terminal';
import { type Choices, type Decider, type WaitingQuestion, questionsIn } from './questions';

export interface Person {
  /** Returns null once input is closed; rejects if the signal withdraws the question. */
  ask(prompt: string, signal: AbortSignal): Promise<string | null>;
  tell(text: string): void;
  edit(text: string): Promise<string>;
}

export const PERSON_AT_TERMINAL: Person = { ask, tell: say, edit: editText };

export interface Asking {
  readonly decider: Decider;
  readonly person: Person;
  readonly whilePaused: (work: () => Promise<void>) => Promise<void>;
}

/** Asks a person about the plans and calls of tools that wait in a run: about each once, one at a time. */
export class Questions {
  /** Resolves with the id of a run of which a decision is left for later; rejects with the first failure to ask or decide. */
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

  /** Takes the newest trace: asks about what waits, and withdraws a question that was decided elsewhere. */
  consider(trace: SolveResult): void {
    this.latest = trace;
    const waiting = questionsIn(trace, this.asking.decider);
    if (this.current !== null) {
      if (!waiting.some(({ about }) => about === this.current?.about)) this.current.stop.abort();
      return;
    }
    const next = waiting.find(({ about }) => !this.asked.has(about));
    if (next !== undefined) void this.ask(trace, next);
  }

  close(): void {
    this.isClosed = true;
    this.current?.stop.abort();
  }

  private async ask(trace: SolveResult, { about, run, text, choices }: WaitingQuestion): Promise<void> {
    const { person, whilePaused } = this.asking;
    const stop = new AbortController();
    this.current = { about, stop };
    this.asked.add(about);
    try {
      await whilePaused(async () => {
        person.tell(text);
        if (!(await askVerdict(choices, person, stop.signal))) this.leave({ left: run });
      });
    } catch (error) {
      if (!stop.signal.aborted) this.fail(error);
    }
    this.current = null;
    if (!this.isClosed) this.consider(this.latest ?? trace);
  }
}

/** Asks until the run accepts a decision; false if it is left for later. Keeps an edited text. */
export async function askVerdict(choices: Choices, person: Person, signal: AbortSignal): Promise<boolean> {
  let draft: string | null = null;
  /** Returns whether a decision was sent; an unchanged text or an empty reason means a second thought. */
  const decide = async (letter: string): Promise<boolean> => {
    if (letter === 'a') await choices.approve();
    else if (letter === 'e') {
      const shown: string = draft ?? (await choices.write());
      draft = await person.edit(shown);
      if (draft === shown) return false;
      await choices.replace(draft);
    } else if (letter === 'r') {
      const reason = (await person.ask(choices.askWhy, signal))?.trim();
      if (!reason) return false;
      await choices.reject(reason);
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
    const file = join(folder, 'edited.yaml');
    await writeFile(file, text);
    // Uses the shell, as git does: the variable may contain arguments, e.g. "code --wait".
    const setting = { cwd: folder, passes: 'all', shell: true, stdio: 'inherit' } as const;
    const [code] = (await once(startProgram(`${editor} "${file}"`, [], setting), 'close')) as [number | null];
    if (code === 0) return await readFile(file, 'utf8');
    const end = code ?? 'a signal';
    const variable = editor === VISUAL ? 'VISUAL' : 'EDITOR';
    throw new UsageError(`the editor "${editor}" ended with ${end}: set ${variable} to another one`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
