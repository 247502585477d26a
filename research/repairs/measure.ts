import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ConfigInput } from '../../src';
import { startSimulatedProviders } from '../../src/testing';
import { startUp } from '../demo/town';
import { runCodex, type Team } from './codex';
import { CREW, simulateCrew } from './crew';
import { type Fault, failureIn, moduleOf, writeFault } from './faults';

/** Who is asked for a repair, as an agent's settings say it. */
export interface Way extends Pick<Team, 'model' | 'options'> {
  readonly name: string;
}

export const WAYS: readonly Way[] = [
  ...CREW.map(({ id }) => ({ name: `worker/${id}`, model: `worker/${id}` })),
  { name: 'conductor, the last step calls', model: 'conductor', options: { tools: 'last' } },
  { name: 'conductor, every step calls', model: 'conductor' },
];

/** One repair: what the vendor billed for it, and whether the test passes now. */
export interface Repair {
  readonly isRepaired: boolean;
  /** Calls of models, those of the Conductor included. */
  readonly turns: number;
  readonly tokens: number;
  readonly usd: number;
  readonly seconds: number;
}

export interface Bench {
  /** Has Codex repair a fault in a new folder. */
  repair(way: Way, fault: Fault): Promise<Repair>;
  close(): Promise<void>;
}

/** Starts the product as a user does, by `temporal-conductor up`, over the simulated crew. @param folder of all files */
export async function openBench(folder: string, { seed = 0, delayMs = 0 } = {}): Promise<Bench> {
  const providers = await startSimulatedProviders(simulateCrew(seed, delayMs));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'conductor.yaml'), stringify(configOf(`${providers.url}/v1`)));
  const up = await startUp(folder, 'up', '--port', '0');
  const key = (await readFile(join(folder, '.conductor', 'gateway.key'), 'utf8')).trim();
  if (up.gateway === null) throw new Error('"temporal-conductor up" told no address of its gateway.');
  const team = { url: up.gateway, key };
  return {
    async repair(way, fault) {
      const place = join(folder, 'repairs', way.name.replaceAll(/\W+/g, '-'), fault.name);
      await writeFault(fault, place);
      const failure = await failureIn(fault, place);
      const task = `The test in this folder fails:\n\n${failure}\n\nRepair ${moduleOf(fault)}, and leave its test as it is.`;
      const before = providers.log.length;
      const began = performance.now();
      await runCodex({ ...team, ...way }, task, { folder: place, home: join(folder, 'codex') });
      const seconds = (performance.now() - began) / 1000;
      const billed = providers.log.slice(before);
      const sum = (amountOf: (one: (typeof billed)[number]) => number): number =>
        billed.reduce((all, one) => all + amountOf(one), 0);
      return {
        isRepaired: (await failureIn(fault, place)) === null,
        turns: billed.length,
        tokens: sum(({ usage }) => (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)),
        usd: sum(({ nanoUsd }) => nanoUsd ?? 0) / 1e9,
        seconds,
      };
    },
    close: async () => {
      await up.stop();
      await providers.close();
    },
  };
}

function configOf(baseUrl: string): ConfigInput {
  const model = (name: string) => ({
    provider: 'openai' as const,
    model: name,
    baseUrl,
    price: { input: 1, output: 4 },
  });
  return { conductor: model('conductor'), workers: CREW.map(({ id }) => ({ id, ...model(id) })) };
}
