import { createComplete } from '../activities/models';
import { fetchSmolLm2 } from './downloads';

/** Asks the model of a card. Shared by the process, so that a local model's weights are loaded once. */
export const complete = createComplete(() => fetchSmolLm2());
