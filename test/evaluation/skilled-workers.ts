import type { ModelBehaviour, SimulatedRequest } from '../../src/testing';
import { randomFrom } from '../../src/evaluation/chance';
import type { Question } from '../../src/grading/question';
import { renderPlan } from '../../src/plan/render';
import type { Plan } from '../../src/plan/plan';

/** Questions with a number each, `2001 + 1` and so on, and which of them a skill is right about is drawn from the prompt. */
export function sums(count: number): Question[] {
  return Array.from({ length: count }, (_, index): Question => ({
    id: `sum-${index}`,
    question: `What is ${2000 + index} + 1?`,
    grader: 'number',
    answer: String(2001 + index),
  }));
}

/** How often a worker is right: by chance, drawn anew for each prompt that differs. */
export function skilled(name: string, skill: number): ModelBehaviour {
  return { answer: (request) => answerOf(name, skill, request), price: PRICE };
}

/** USD per million tokens. Every answer has as many tokens, so that costs can be reckoned on paper. */
export const PRICE = { input: 0, output: 10 } as const;
export const ANSWER_TOKENS = 100;

function answerOf(name: string, skill: number, { text }: SimulatedRequest) {
  const [, number = '0'] = /What is (\d+) \+ 1\?/.exec(text) ?? [];
  const random = randomFrom('skill', name, text);
  const isRight = random() < skill;
  const wrong = 1 + Math.floor(random() * 1_000_000);
  const answer = Number(number) + 1 + (isRight ? 0 : wrong);
  return { text: `<answer>${answer}</answer>`, usage: { outputTokens: ANSWER_TOKENS } };
}

/** A Conductor that always writes the same plan. */
export function planner(plan: Plan, workers: readonly string[]): ModelBehaviour {
  return {
    answer: { text: renderPlan(plan, workers), usage: { outputTokens: ANSWER_TOKENS } },
    price: PRICE,
  };
}
