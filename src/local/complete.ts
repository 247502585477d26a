import { createComplete } from '../activities/models';
import { fetchSmolLm2 } from './fetch-smollm2';

/** Asks any model that a card names. One for the process, so that a local model's weights are loaded once. */
export const complete = createComplete({ fetchSmolLm2: () => fetchSmolLm2() });
