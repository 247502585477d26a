import { askMangled } from './mangled-inputs';

// More of them: many-mangled-inputs.test.ts.
test(
  'an input with any field mangled is refused with a sentence, or worked with to its end',
  () => askMangled(61),
  120_000,
);
