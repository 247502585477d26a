import type { ConductorCard, RunWorker } from '../protocol/cards';
import type { Manifest } from './results';

type Cast = Pick<Manifest, 'run' | 'conductors' | 'verifier'>;

/** The Conductor that writes a method's plans: a further one by its name, else that of the run. */
export function conductorFor({ run, conductors = {} }: Omit<Cast, 'verifier'>, named = ''): ConductorCard {
  return conductors[named] ?? run.conductor;
}

/** Models of an evaluation beside its run's Conductor and pool, each with its role. */
export function modelsBeside({
  conductors = {},
  verifier,
}: Omit<Cast, 'run'>): (readonly [role: string, card: ConductorCard | RunWorker])[] {
  return [
    ...Object.entries(conductors).map(([name, card]) => [`conductor:${name}`, card] as const),
    ...(verifier === undefined ? [] : [['verifier', verifier] as const]),
  ];
}
