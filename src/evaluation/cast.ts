import type { ConductorCard, RunWorker } from '../protocol/cards';
import type { Method } from './methods/method';
import { type Cast, readMethod } from './methods/read-method';
import type { Manifest } from './results';

type Models = Pick<Manifest, 'run' | 'conductors' | 'baselines' | 'verifier'>;

/** The Conductor that writes a method's plans: a further one by its name, else that of the run. */
export function conductorFor(
  { run, conductors = {} }: Pick<Models, 'run' | 'conductors'>,
  named = '',
): ConductorCard {
  return conductors[named] ?? run.conductor;
}

/** Workers that a plan is carried out by: the pool, or where it is about a worker from outside, the baselines. */
export function workersFor(
  { run, baselines = [] }: Pick<Models, 'run' | 'baselines'>,
  worker: string | undefined,
): readonly RunWorker[] {
  return baselines.some(({ id }) => id === worker) ? baselines : run.workers;
}

/** Models of an evaluation beside its run's Conductor and pool, each with its role. */
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

/** Names of the further Conductors and ids of the baselines that methods ask. */
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
