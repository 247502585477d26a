/**
 * `npm run grading:tiers`: judges our own pairs by each tier alone and by both, and lists disagreements. With files of
 * questions after `--`, it measures tiers and tolerance on their right answers instead.
 */
import { gradeMathematics } from '../../../src/grading/mathematics/grade-mathematics';
import { askMathVerify, mathVerifyProblem } from '../../../src/grading/mathematics/math-verify';
import { useGradingPython } from '../../support/grading-python';
import { type Pair, readPairs } from './pairs';
import { measureAnswers } from './real-answers';

async function main(): Promise<void> {
  useGradingPython();
  const files = process.argv.slice(2);
  for (const file of files) for (const line of await measureAnswers(file)) console.log(line);
  if (files.length > 0) return;
  const problem = await mathVerifyProblem();
  if (problem !== null) throw new Error(problem);
  const pairs = readPairs();
  const first = await judgeAll(pairs, async ({ right, answer }) => {
    const { verdict, graderVersion } = await gradeMathematics(right, answer);
    return verdict === 'correct' && !graderVersion.includes('math-verify');
  });
  const second = await judgeAll(pairs, async ({ right, answer }) => {
    const opinion = await askMathVerify(right, answer).catch(() => null);
    return opinion?.comparison === 'same';
  });
  const both = await judgeAll(pairs, async ({ right, answer }) => {
    return (await gradeMathematics(right, answer)).verdict === 'correct';
  });
  for (const [name, said] of Object.entries({ 'tier 1': first, 'tier 2': second, both })) {
    const good = pairs.filter(({ isRight }, index) => said[index] === isRight).length;
    console.log(`${name}: ${good} of ${pairs.length} as they should be`);
  }
  console.log('\nThe tiers disagree on:');
  for (const [index, pair] of pairs.entries()) {
    if (first[index] === second[index]) continue;
    const { kind, right, answer, isRight } = pair;
    const who = second[index] === isRight ? 'tier 2 is right' : 'tier 1 is right';
    console.log(`- ${kind}: ${right} ${isRight ? '==' : '!='} ${answer}: ${who}`);
  }
}

async function judgeAll(pairs: readonly Pair[], judge: (pair: Pair) => Promise<boolean>): Promise<boolean[]> {
  const said: boolean[] = [];
  for (const pair of pairs) said.push(await judge(pair));
  return said;
}

void main();
