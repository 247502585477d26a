import type { Message } from '../../protocol/message';

/** A reply that was no plan, with the message of its `PlanError`; or a plan that a person rejected, and why. */
export interface FailedAttempt {
  readonly reply: string;
  readonly problem: string;
  readonly isRejected?: boolean;
}

/** Each failed reply as the Conductor's own turn, and what was wrong with it; oldest first. */
export function repairTurns(attempts: readonly FailedAttempt[]): Message[] {
  return attempts.flatMap((attempt): Message[] => [
    { role: 'assistant', text: clipped(attempt.reply) },
    { role: 'user', text: wrongWith(attempt) },
  ]);
}

function wrongWith({ problem, isRejected = false }: FailedAttempt): string {
  return isRejected
    ? `The person who asked does not want this plan.\n\n${problem}\n\nWrite another one.`
    : `This reply holds no valid plan.\n\n${problem}\n\nCorrect this and write the whole reply again.`;
}

/** How much of a failed reply is shown, in characters: a model that never stopped must not fill its own context. */
const SHOWN = 4000;

function clipped(reply: string): string {
  // Vendors refuse a message without text.
  if (reply.trim() === '') return '(no text)';
  if (reply.length <= SHOWN) return reply;
  return `${reply.slice(0, SHOWN / 2)}\n…\n${reply.slice(-SHOWN / 2)}`;
}
