import { checkConfig, checkKeys } from '../doctor/check-config';
import { checkEncryption } from '../doctor/check-encryption';
import { checkLocalEngine, checkNode, checkPython, checkTemporalCli } from '../doctor/check-programs';
import { checkServer } from '../doctor/check-server';
import { checkStore } from '../doctor/check-store';
import type { Finding } from '../doctor/finding';
import { EXIT, type ExitCode } from '../exit-code';
import { modelCardsOf } from '../load-settings';
import { resolveRun } from '../../pool/resolve-run';
import type { Config } from '../../pool/config-schema';
import type { Paint } from '../../trace/paint';
import { paintFor, print } from '../terminal';

/** Says what is installed, reachable and allowed here; fails if something that a solve needs is not. */
export async function doctor(options: { readonly config?: string }): Promise<ExitCode> {
  const { config, findings } = await checkConfig(options.config);
  const all = [
    checkNode(),
    await checkPython(),
    await checkTemporalCli(),
    ...(await checkServer(config?.temporal.namespace ?? 'default')),
    ...findings,
    ...(config === null ? [] : await checkPoolOf(config)),
  ];
  const paint = paintFor(process.stdout);
  await print(all.map((finding) => describeFinding(finding, paint)).join('\n'));
  return all.some(({ state }) => state === 'broken') ? EXIT.failed : EXIT.answered;
}

async function checkPoolOf(config: Config): Promise<Finding[]> {
  const isLocal = modelCardsOf(resolveRun(config)).some(({ provider }) => provider === 'local');
  return [
    ...checkKeys(config),
    ...checkEncryption(config),
    await checkStore(config),
    checkLocalEngine(isLocal),
  ];
}

const WHAT_COLUMNS = 16;

function describeFinding({ what, state, text }: Finding, paint: Paint): string {
  const mark = { fine: paint.good('✓'), note: paint.busy('·'), broken: paint.bad('✗') }[state];
  // What goes on below the first line of a finding stands under its beginning.
  return `${mark} ${what.padEnd(WHAT_COLUMNS)}${text.replaceAll('\n', `\n${' '.repeat(WHAT_COLUMNS + 2)}`)}`;
}
