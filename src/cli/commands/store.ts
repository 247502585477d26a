import { collectGarbage } from '../../client/collect-garbage';
import type { Tally } from '../../store/sweep';
import { counted } from '../../trace/describe';
import { openFiles } from '../../training/artifacts/open';
import { sweepWeights } from '../../training/activities/weights';
import { EXIT, type ExitCode } from '../exit-code';
import { withSession } from '../session';
import { loadSettings, type WorkOptions } from '../load-settings';
import { print } from '../terminal';

interface CollectOptions extends WorkOptions {
  /** Milliseconds. */
  readonly olderThan: number;
  readonly dryRun?: boolean;
}

/** `store gc`: removes what is old and of no use. It needs the server, which knows what is of use. */
export async function collect(options: CollectOptions): Promise<ExitCode> {
  const { config: file, olderThan, dryRun = false } = options;
  const loaded = await loadSettings(options);
  return withSession(loaded, { file, role: 'look', used: true }, async ({ temporal, store, server }) => {
    const { texts, answers, runs } = await collectGarbage({
      client: temporal,
      store,
      olderThanMs: olderThan,
      dryRun,
    });
    const { training } = loaded;
    const files = training === undefined ? null : openFiles(training.artifacts);
    const weights = files && (await sweepWeights(files, { olderThanMs: olderThan, dryRun }));
    const gone = {
      text: texts.removed,
      answer: answers.removed,
      ...(weights && { 'weight file': weights.removed }),
    };
    const removed = `${dryRun ? 'Would remove' : 'Removed'}: ${describe(gone)}.`;
    const old = {
      text: texts.live,
      answer: answers.live,
      ...(weights && { 'weight file': weights.live }),
    };
    const kept = `Kept, as old: ${describe(old)}.`;
    await print(`${removed}\n${kept} The server at ${server.address} holds ${counted(runs, 'run')}.`);
    return EXIT.answered;
  });
}

function describe(tallies: Readonly<Record<string, Tally>>): string {
  const parts = Object.entries(tallies)
    .filter(([, { count }]) => count > 0)
    .map(([what, { count, bytes }]) => `${counted(count, what)} (${describeBytes(bytes)})`);
  return parts.length === 0 ? 'nothing' : parts.join(' and ');
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

function describeBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  const amount = bytes / 1000 ** power;
  return `${power === 0 ? amount : amount.toPrecision(3)} ${UNITS[power] ?? ''}`;
}
