import { askMangled } from './mangled-inputs';

// With 1 for 12 it is every one of them, in some eight minutes.
test(
  'inputs with any field mangled are refused with a sentence, or worked with to their end',
  () => askMangled(12),
  600_000,
);
