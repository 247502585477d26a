import type { ConductorCard, RunWorker } from '../protocol/cards';
import type { Method } from './methods/method';
import { type Cast, readMethod } from './methods/read-method';
import type { EvaluationManifest } from './results';

type Models = Pick<EvaluationManifest, 'run' | 'conductors' | 'baselines' | 'verifier'>;

/** Returns the Conductor that writes a method's plans: the additional one of that name, else the run's. */
export function conductorFor(
  { run, conductors = {} }: Pick<Models, 'run' | 'conductors'>,
  named = '',
): ConductorCard {
  return conductors[named] ?? run.conductor;
}

/** Returns the workers that carry out a plan: the baselines if `worker` is one of them, else the pool. */
export function workersFor(
  { run, baselines = [] }: Pick<Models, 'run' | 'baselines'>,
  worker: string | undefined,
): readonly RunWorker[] {
  return baselines.some(({ id }) => id === worker) ? baselines : run.workers;
}

/** Returns the models of an evaluation besides its run's Conductor and pool, each with its role. */
export function modelsBeside({
  conductors = {},
  baselines = [],
  verifier,
}: Omit<Models, 'run'>): (readonly [role: string, card: ConductorCard | RunWorker])[] {
  return [
    ...Object.entries(conductors).map(([name, card]) => [`conductor:${name}`, card] as const),
    ...baselines.map((card) => [`baseline ${card.id}`, card] as const),
    ...(verifier === undefined ? [] : [['verifier', verifier] as const]),
  ];
}

/** Returns the names of the additional Conductors and the ids of the baselines that methods use. */
export function askedBeside(
  methods: readonly string[],
  cast: Cast,
): { readonly conductors: string[]; readonly baselines: string[] } {
  const read = methods.map((name) => readMethod(name, cast).method);
  const named = read.flatMap((method) => (method.kind === 'conductor' ? (method.named ?? []) : []));
  const alone = new Set(read.flatMap((method) => askedAlone(method) ?? []));
  const { baselines = [] } = cast;
  return {
    conductors: [...new Set(named)],
    baselines: baselines.map(({ id }) => id).filter((id) => alone.has(id)),
  };
}

function askedAlone(method: Method): string | undefined {
  return method.kind === 'samples' ? method.worker : method.kind === 'plan' ? method.solo?.worker : undefined;
}
