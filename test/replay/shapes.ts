import type { SolveHandle } from '../../src';
import type { ConfigInput } from '../../src/pool/config-schema';
import { step, type Stage } from '../support/stage';

/** One way for a run to go, from its plan to its end. */
export interface Shape {
  prepare(stage: Stage): void;
  /** What else happens to the run once it was started. */
  meanwhile?(stage: Stage, run: SolveHandle): Promise<void>;
}

/** The pool of every shape: `c` stands in for `a`, and a cancellation is heard within a second. */
export function configureShapes(config: ConfigInput): ConfigInput {
  const workers = config.workers.map((worker) => ({ ...worker, fallback: worker.id === 'a' ? ['c'] : [] }));
  return { ...config, workers, temporal: { heartbeat: '1s' } };
}

const TWO_WAVES = [step('a', 'One side.'), step('b', 'The other side.'), step('c', 'Put together.', [0, 1])];

/** The ways recorded in `histories/`, by file name. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  answered: {
    prepare: (stage) => {
      stage.plan(TWO_WAVES);
    },
  },
  'answered-at-length': {
    prepare: (stage) => {
      stage.plan([step('a', 'Say a lot.'), step('b', 'Say it again.', [0])]);
      stage.providers.answer('a', 'word '.repeat(1000));
      stage.providers.answer('b', 'Word '.repeat(1000));
    },
  },
  repaired: {
    prepare: (stage) => {
      stage.providers.script('conductor', ['I would ask somebody.']);
      stage.plan([step('a', 'Answer it.')]);
    },
  },
  'without-a-plan': {
    prepare: (stage) => {
      stage.providers.answer('conductor', 'I would ask somebody.');
    },
  },
  degraded: {
    prepare: (stage) => {
      stage.plan(TWO_WAVES);
      stage.providers.answer('a', { fault: 'refusal' });
      stage.providers.script('b', [{ fault: 'truncated' }, { fault: 'length' }]);
      stage.providers.script('c', ['in place of a']);
    },
  },
  failed: {
    prepare: (stage) => {
      stage.plan([step('a', 'Answer it.'), step('b', 'Check it.', [0])]);
      for (const worker of ['a', 'b', 'c']) stage.providers.answer(worker, { fault: 'unauthorized' });
    },
  },
  cancelled: {
    prepare: (stage) => {
      stage.plan([step('a', 'Answer it.'), step('b', 'Never end.')]);
      stage.providers.hold('b');
    },
    meanwhile: async (stage, { id }) => {
      await stage.providers.waitForRequest(({ model }) => model === 'b');
      await stage.client.cancel(id);
    },
  },
};
