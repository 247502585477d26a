import { askMangled } from './mangled-inputs';

// With 1 for 5 it is every one of them, in some eight minutes.
test(
  'inputs with any field mangled are refused with a sentence, or worked with to their end',
  () => askMangled(5),
  600_000,
);
