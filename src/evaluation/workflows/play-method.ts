import type { Method, Team } from '../methods/method';
import { alone } from '../methods/single';
import type { MethodRecord } from '../records';
import { playSamples } from './play-samples';
import { type MethodResult, nothingOf, type SolveRun, type Trial } from './trial';

interface Tried {
  readonly name: string;
  readonly method: Method;
  readonly team: Team;
  /** Conductor's result on the question; null for its own turn. */
  readonly reference: MethodRecord | null;
}

/** Tries a method on the question; null where the money did not last for it. */
export function playMethod(trial: Trial, tried: Tried): Promise<MethodResult | null> {
  const { method, name, team, reference } = tried;
  switch (method.kind) {
    case 'conductor': {
      const { depth, steps, change } = method;
      const limits = { depth, ...(steps !== undefined && { steps }) };
      return playOnce(trial.solve(name, { limits, conductor: change }));
    }
    case 'plan':
      return playOnce(trial.runPlan(name, method.write(team)));
    case 'rewrite': {
      const plan = reference?.plan ?? null;
      if (plan === null)
        return Promise.resolve(nothingOf('the Conductor wrote no plan that could be changed'));
      return playOnce(trial.runPlan(name, method.rewrite(plan, team)));
    }
    case 'routed':
      return playRouted(trial, name);
    case 'samples':
      return playSamples(trial, name, method, reference);
  }
}

function playRouted(trial: Trial, name: string): Promise<MethodResult | null> {
  const { routed } = trial.question;
  return routed === undefined
    ? Promise.resolve(nothingOf('the evaluation learned from no earlier one who is to answer'))
    : playOnce(trial.runPlan(name, alone(routed)));
}

async function playOnce(solving: Promise<SolveRun | null>): Promise<MethodResult | null> {
  const run = await solving;
  return run && { runs: [run], answer: run.trace?.answer ?? null };
}
