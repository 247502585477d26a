import { gzipSync } from 'node:zlib';
import { chooseGroups, drawQuestions } from '../../../src/training/draw';
import { hasSpread } from '../../../src/training/reward';
import type { BatchHeader, BatchRow, UpdateRequest } from '../../../src/training/trainer-contract';
import { handOver } from '../plain/step-server';
import { toJsonLines } from '../world/questions';
import type { CycleFigures, Figures } from './figures';
import { playGroup } from './plain-group';
import { firstPolicy, type PlainPolicy, type PlainSetting, toPolicy } from './plain-setting';

/** What an update was made of. */
export interface PlainUpdate {
  readonly request: UpdateRequest;
  /** File. */
  readonly batch: string;
  readonly rollouts: number;
}

/** A cycle in a plain loop. */
interface PlainCycle {
  readonly figures: CycleFigures;
  readonly policy: PlainPolicy;
  /** null where there was nothing to learn from. */
  readonly update: PlainUpdate | null;
}

/**
 * The cycles of a night in one plain program: the same questions, servers, windows, grades and updates, and nothing that
 * would outlast the process. All but the first are weighed.
 */
export async function playPlainly(
  setting: PlainSetting,
): Promise<Figures & { readonly updates: readonly PlainUpdate[] }> {
  const cycles: PlainCycle[] = [await playCycle(setting, await firstPolicy(setting), 1)];
  const before = process.cpuUsage();
  for (let cycle = 2; cycle <= setting.settings.cycles; cycle += 1) {
    const policy = cycles.at(-1)?.policy ?? (await firstPolicy(setting));
    cycles.push(await playCycle(setting, policy, cycle));
  }
  const { user, system } = process.cpuUsage(before);
  return {
    cycles: cycles.slice(1).map(({ figures }) => figures),
    updates: cycles.flatMap(({ update }) => update ?? []),
    ownMs: (user + system) / 1000,
    serverMs: 0,
  };
}

async function playCycle(setting: PlainSetting, policy: PlainPolicy, cycle: number): Promise<PlainCycle> {
  const began = performance.now();
  const { groups, keep } = await rollOut(setting, policy, cycle);
  const rows = groups.filter((_, draw) => keep.includes(draw)).flat();
  const learned = rows.length === 0 ? null : await learn(setting, policy, cycle, rows);
  return {
    figures: {
      wallMs: performance.now() - began,
      learningMs: learned?.tookMs ?? 0,
      rollouts: groups.flat().length,
      weightsSha256: learned?.weightsSha256 ?? null,
    },
    policy: learned?.policy ?? policy,
    update: learned?.update ?? null,
  };
}

/** All groups side by side, and others in the place of those without spread. */
async function rollOut(setting: PlainSetting, policy: PlainPolicy, cycle: number) {
  const { seed, questions: wanted, maxDraws } = setting.settings;
  const source = { seed, count: setting.questions.length, questions: wanted, cycle };
  const drawn = drawQuestions(source, maxDraws).flatMap((index) => setting.questions[index] ?? []);
  const groups: (readonly BatchRow[] | null)[] = [];
  const underWay = new Set<Promise<void>>();
  for (;;) {
    const spreads = groups.map((group) => group && hasSpread(group.map(({ reward }) => reward)));
    const { keep, more, isOver } = chooseGroups({ wanted, maxDraws, spreads });
    for (const question of drawn.slice(groups.length, groups.length + more)) {
      const draw = groups.push(null) - 1;
      const played = playGroup(setting, policy, { cycle, draw, question }).then((rows) => {
        groups[draw] = rows;
        underWay.delete(played);
      });
      underWay.add(played);
    }
    if (isOver) return { groups: groups.flatMap((group) => (group === null ? [] : [group])), keep };
    await Promise.race(underWay);
  }
}

async function learn(setting: PlainSetting, policy: PlainPolicy, cycle: number, rows: readonly BatchRow[]) {
  const { settings, config, steps, root, policyServer } = setting;
  const { trainRun } = settings;
  const header: BatchHeader = {
    schema: 1,
    trainRun,
    cycle,
    policy: policy.checkpoint.name,
    rollouts: rows.length,
    temperature: settings.policy.temperature,
    tokenizerSha256: policy.served.tokenizerSha256,
  };
  const packed = gzipSync(toJsonLines([header, ...rows]));
  const { path, stored } = await handOver(root, `batch-${cycle}.jsonl.gz`, packed);
  const request = { trainRun, cycle, parent: policy.checkpoint, batch: stored, config };
  const began = performance.now();
  const { checkpoint } = await steps.update(request, path);
  const next = toPolicy(setting, checkpoint);
  await policyServer.load(next.served.model, next.served.path, new AbortController().signal);
  return {
    policy: next,
    tookMs: performance.now() - began,
    weightsSha256: checkpoint.weightsSha256,
    update: { request, batch: path, rollouts: rows.length },
  };
}
