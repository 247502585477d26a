import { strideOf } from '../../support/thorough';
import { askMangled } from './mangled-inputs';

test(
  'inputs with any field mangled are refused in a sentence or processed to their end',
  () => askMangled(strideOf(12)),
  600_000,
);
