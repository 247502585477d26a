import type { AddCommands } from './add-command';
import { addLearned } from './add-learned';
import { addNightOrders } from './add-night-orders';
import { addNights } from './add-nights';
import { addServing } from './add-serving';

/** `train`: commands that train a Conductor, and say which one serves. */
export const addTraining: AddCommands = (program, settle) => {
  const train = program.command('train').description('train a Conductor of your own');
  for (const add of [addNights, addNightOrders, addLearned, addServing]) add(train, settle);
};
