import { askMangled } from './mangled-inputs';

// many-mangled-inputs.nightly.test.ts tries more of them.
test(
  'an input with any field mangled is refused in a sentence or processed to its end',
  () => askMangled(907),
  120_000,
);
