import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audit } from './audit';
import { CLOCK_MS } from './audit-ledger';
import { type Evidence, type Finding, finding } from './evidence';
import { KillScript, type Script } from './kill-script';
import { questionsOf } from './scenario';
import { inWorld, type StoreKind, type World } from './world';

/** Solves before memory is first measured, at most half of all; by then, whatever is loaded once is loaded. */
const WARM_UP = 40;

export interface ChaosOptions extends Script {
  readonly store: StoreKind;
  /** Path of the workflow bundle. */
  readonly bundle: string;
}

/** Result of a chaos run. */
export interface ChaosResult {
  readonly evidence: Evidence;
  /** Empty when everything held. */
  readonly findings: readonly Finding[];
  /** Folder of database, store and logs, which is kept if something did not hold; else null. */
  readonly folder: string | null;
  readonly tookMs: number;
}

/**
 * Runs solves while the script of a seed kills workers, server and providers, and audits what they leave behind: real
 * processes, real HTTP, `kill -9`.
 *
 * @throws Error if the chaos run itself could not continue, e.g. because a server did not come back
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, solves, kills } = options;
  const began = Date.now();
  const before = setByMs();
  const folder = await mkdtemp(join(tmpdir(), `chaos-${seed}-`));
  const script = new KillScript(options);
  const onRequest = (): void => {
    script.count('requests');
  };
  const onText = (): void => {
    script.count('texts');
  };
  const evidence = await inWorld({ ...options, folder, onRequest, onText }, async (world) => {
    const { runs, memory } = await solveAll(world, script, questionsOf(seed, solves));
    return { ...(await world.leavings(runs)), memory, kills: script.kills, plannedKills: kills };
  }).catch((error: unknown) => {
    throw new Error(`The chaos of seed ${seed} broke off; what there is lies in ${folder}.`, {
      cause: error,
    });
  });
  const findings = [...audit(evidence), ...auditClock(setByMs() - before)];
  const isClean = findings.length === 0;
  if (isClean) await rm(folder, { recursive: true, force: true });
  return { evidence, findings, folder: isClean ? null : folder, tookMs: Date.now() - began };
}

/** Returns by how much the machine's clock was set since this process started. */
function setByMs(): number {
  return Date.now() - performance.timeOrigin - performance.now();
}

/** Processes started before and after the machine's clock was set give times that cannot be compared. */
function auditClock(setMs: number): Finding[] {
  if (Math.abs(setMs) < CLOCK_MS) return [];
  const difference = `it was set by ${Math.round(setMs)} ms: findings about times say nothing; run it again`;
  return [finding("nobody sets the machine's clock during a run", difference)];
}

async function solveAll(
  world: World,
  script: KillScript,
  questions: ReadonlyMap<string, string>,
): Promise<Pick<Evidence, 'runs' | 'memory'>> {
  const all = [...questions];
  const warmUp = Math.min(WARM_UP, Math.floor(all.length / 2));
  const ask = (some: typeof all) =>
    world.ask(new Map(some), () => {
      script.count('ends');
    });
  script.strike = (victim) => world.kill(victim);
  const first = await ask(all.slice(0, warmUp));
  const before = await world.memory();
  const others = await ask(all.slice(warmUp));
  await script.settle();
  return { runs: new Map([...first, ...others]), memory: { before, after: await world.memory() } };
}
