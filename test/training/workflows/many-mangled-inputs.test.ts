import { askMangled, openInputStage } from './mangled-inputs';

// With 1 for 5 it is every one of them, in some eight minutes.
test('inputs with any field mangled are refused with a sentence, or worked with to their end', async () => {
  const stage = await openInputStage();
  try {
    await stage.whileWorking(() => askMangled(stage, 5));
  } finally {
    await stage.close();
  }
}, 600_000);
