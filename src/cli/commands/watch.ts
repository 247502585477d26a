import { type AddCommands, CONFIG } from '../arguments';
import { showRun, type ShowOptions } from '../follow-run';
import { listenForInterruption } from '../interruption';
import { withSession } from '../session';
import { loadSettings } from '../settings';

/** `watch`: follows a run to its end. */
export const addWatch: AddCommands = (program, settle) => {
  program
    .command('watch')
    .description('follow a run to its end, and print the answer')
    .argument('<id>')
    .option(...CONFIG)
    .option('--json', 'print the whole result as JSON')
    .action(async (id: string, options: ShowOptions) => {
      const interruption = listenForInterruption();
      const setting = { file: options.config, role: 'follow', used: true } as const;
      const code = await withSession(await loadSettings(options.config), setting, (session) =>
        showRun(session, id, interruption, options),
      );
      settle(code);
    });
};
