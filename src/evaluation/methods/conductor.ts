import type { MethodEntry } from './method';

/** The configured Conductor, which writes each plan; it may call itself as deep as the argument says. */
export const conductor: MethodEntry = {
  description: 'the Conductor of the configuration; conductor:1 may call itself, conductor:2 twice as deep',
  argument: 'depth',
  make: (depth) => ({ kind: 'conductor', depth: Number(depth === '' ? 0 : depth) }),
};

/** The Conductor's model chooses one worker for each question, and no more: what a prompted router does. */
export const router: MethodEntry = {
  description: 'the Conductor chooses one worker for each question, and that one answers',
  argument: 'none',
  make: () => ({ kind: 'conductor', depth: 0, steps: 1 }),
};
