import { Command } from 'commander';
import { addCare } from './program/add-care';
import type { Settle } from './program/add-command';
import { addServices } from './program/add-services';
import { addSolve } from './program/add-solve';
import { addSteering } from './program/add-steering';
import { addTraining } from './program/add-training';
import { addViews } from './program/add-views';
import { readVersion } from './version';

const EXIT_CODES = `
Exit codes: 0 answered, 1 failed, 2 bad usage or configuration, 3 stopped by a limit, 130 interrupted.
The Temporal server is the one TEMPORAL_ADDRESS names, else one of this folder's own, started when needed.`;

/** The command line: its words, and what each starts. */
export function buildProgram(settle: Settle): Command {
  const program = new Command('temporal-conductor')
    .description('A Conductor model writes a plan for a team of language models; Temporal runs it durably.')
    .version(readVersion())
    .addHelpText('after', EXIT_CODES)
    .exitOverride()
    .showSuggestionAfterError();
  for (const add of [addSolve, addViews, addSteering, addServices, addTraining, addCare])
    add(program, settle);
  return program;
}
