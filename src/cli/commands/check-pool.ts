import type { RunWorker } from '../../protocol/run';
import { resolveRun } from '../../pool/resolve-run';
import { describeCost } from '../../trace/describe';
import { oneLine } from '../../trace/one-line';
import type { Paint } from '../../trace/paint';
import { EXIT, type ExitCode } from '../exit-code';
import { loadServable } from '../load-settings';
import { pingConductor } from '../ping-conductor';
import { pingModel, type Ping } from '../ping-model';
import { paintFor, print } from '../terminal';

/** Calls the Conductor and each worker once, a line each; fails if any of them does. */
export async function checkPool(options: { readonly config?: string }): Promise<ExitCode> {
  const config = await loadServable(options.config);
  const { workers } = resolveRun(config);
  const paint = paintFor(process.stdout);
  const width = Math.max(...['conductor', ...workers.map(({ id }) => id)].map((name) => name.length));
  let failures = 0;
  const report = async (name: string, ping: Ping): Promise<void> => {
    if (ping.problem !== null) failures += 1;
    await print(describePing(name.padEnd(width), ping, paint));
  };

  // One after the other: a limit on requests at once shall not look like a broken worker.
  await report('conductor', await pingConductor(config));
  for (const worker of workers) {
    if (worker.kind === 'model') await report(worker.id, await pingModel(worker, config));
    else await print(describeExternal(worker.id.padEnd(width), worker, paint));
  }
  return failures === 0 ? EXIT.answered : EXIT.failed;
}

function describePing(name: string, { problem, latencyMs, tokens, nanoUsd }: Ping, paint: Paint): string {
  if (problem !== null) return `${paint.bad('✗')} ${name}  ${oneLine(problem, Infinity)}`;
  const facts = [
    `${latencyMs} ms`,
    tokens === null ? 'tokens unknown' : `${tokens} tokens`,
    nanoUsd === null ? 'cost unknown' : describeCost({ costUsd: nanoUsd / 1e9, costIsLowerBound: false }),
  ];
  return `${paint.good('✓')} ${name}  ${facts.join(' · ')}`;
}

function describeExternal(
  name: string,
  { kind, taskQueue }: Exclude<RunWorker, { kind: 'model' }>,
  paint: Paint,
): string {
  return `${paint.faint('·')} ${name}  ${kind} of your own on task queue ${taskQueue}: called by runs only`;
}
