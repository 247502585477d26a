import { askMangled } from './mangled-inputs';

// A stride of 1 instead of 12 tries all of them, in about eight minutes.
test(
  'inputs with any field mangled are refused in a sentence or processed to their end',
  () => askMangled(12),
  600_000,
);
