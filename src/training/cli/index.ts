import { type AddCommands, CONFIG, RUN } from '../../cli/arguments';
import { addExamples } from './examples';
import { addList } from './list';
import { addNight } from './night';
import { addNotes } from './notes';
import { addPlot } from './plot/plot-run';
import { addSchedule } from './schedule';
import { addServing } from './serving';
import { addShow } from './show';
import { addStatus } from './status';
import { addTrainerJobs } from './trainer-jobs';

/** Below `train`: commands that train a Conductor, and say which one serves. */
export const addTraining: AddCommands = (train, settle) => {
  const all = [
    addNight,
    addSchedule,
    addStatus,
    addList,
    addShow,
    addNotes,
    addPlot,
    addExamples,
    addTrainerJobs,
    addServing,
  ];
  for (const add of all) add(train, settle);
  for (const command of train.commands) {
    if (command.name() !== 'list') command.option(...RUN);
    command.option(...CONFIG);
  }
};
