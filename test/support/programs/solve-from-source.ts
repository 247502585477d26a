/**
 * `node --require ./scripts/run-typescript.cjs test/support/programs/solve-from-source.ts "QUESTION"`: one solve for a
 * debugger. Workflow, activities and client are loaded from src/; the models are simulated, Temporal is real.
 */
import globalSetup, { undoAll } from '../global-setup';
import { openStage, step } from '../stage';

async function main(): Promise<void> {
  const [question = 'What is the capital of France?'] = process.argv.slice(2);
  await globalSetup();
  const stage = await openStage();
  try {
    stage.plan([step('a', 'Answer the question.'), step('b', 'Check the answer.', [0])]);
    const { answer, rounds } = await stage.solve({ question });
    for (const { worker, output } of rounds.flatMap(({ steps }) => steps))
      console.log(`${worker}: ${output}`);
    console.log(answer);
  } finally {
    await stage.close();
    await undoAll();
  }
}

void main();
