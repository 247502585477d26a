import { carryOut, type Crew } from '../../specialists/crew';
import { ALL_PHRASES, toSubtask } from '../../specialists/skills';
import { REFUSAL, rightAnswer, SCHOOLINGS, type WorkerTask } from '../../specialists/workers';

/** Workers that do exactly what the real ones are taught. */
export const PERFECT: Crew = {
  url: 'http://127.0.0.1:9/v1',
  ids: SCHOOLINGS.map(({ id }) => id),
  ask,
  askWhole: () => Promise.resolve(REFUSAL),
  carryOut: (plan, question) => carryOut(ask, plan, question),
  sent: () => 0,
};

function ask(worker: string, task: WorkerTask): Promise<string> {
  return Promise.resolve(perfectAnswer(worker, task));
}

function perfectAnswer(worker: string, task: WorkerTask): string {
  const phrase = ALL_PHRASES.find((each) => toSubtask(each) === task.subtask);
  const taught = SCHOOLINGS.find(({ id }) => id === worker)?.taught ?? [];
  if (phrase === undefined) return REFUSAL;
  const isTaught = taught.some(([skill, phrasing]) => skill === phrase.skill && phrasing === phrase.phrasing);
  return isTaught ? rightAnswer(task, phrase.skill) : REFUSAL;
}
