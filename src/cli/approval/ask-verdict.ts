import type { Plan, PlanContext } from '../../plan/plan';
import { reasonOf } from '../../local/reason-of';
import { writePlanFile } from './plan-file';
import { readPlan } from './read-plan';

/** What a person at a terminal decided about a plan. */
export type Verdict =
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
export async function askVerdict(person: Person, plan: Plan, context: PlanContext): Promise<Verdict> {
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
