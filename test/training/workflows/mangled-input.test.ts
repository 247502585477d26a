import { askMangled, openInputStage } from './mangled-inputs';

// More of them: many-mangled-inputs.test.ts.
test('an input with any field mangled is refused with a sentence, or worked with to its end', async () => {
  const stage = await openInputStage();
  try {
    await stage.whileWorking(() => askMangled(stage, 61));
  } finally {
    await stage.close();
  }
}, 120_000);
