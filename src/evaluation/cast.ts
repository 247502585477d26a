import type { ConductorCard, RunWorker } from '../protocol/cards';
import type { Manifest } from './results';

type Cast = Pick<Manifest, 'run' | 'conductors' | 'baselines' | 'verifier'>;

/** The Conductor that writes a method's plans: a further one by its name, else that of the run. */
export function conductorFor(
  { run, conductors = {} }: Pick<Cast, 'run' | 'conductors'>,
  named = '',
): ConductorCard {
  return conductors[named] ?? run.conductor;
}

/** Workers that a plan is carried out by: the pool, or where it is about a worker from outside, the baselines. */
export function workersFor(
  { run, baselines = [] }: Pick<Cast, 'run' | 'baselines'>,
  worker: string | undefined,
): readonly RunWorker[] {
  return baselines.some(({ id }) => id === worker) ? baselines : run.workers;
}

/** Models of an evaluation beside its run's Conductor and pool, each with its role. */
export function modelsBeside({
  conductors = {},
  baselines = [],
  verifier,
}: Omit<Cast, 'run'>): (readonly [role: string, card: ConductorCard | RunWorker])[] {
  return [
    ...Object.entries(conductors).map(([name, card]) => [`conductor:${name}`, card] as const),
    ...baselines.map((card) => [`baseline ${card.id}`, card] as const),
    ...(verifier === undefined ? [] : [['verifier', verifier] as const]),
  ];
}
