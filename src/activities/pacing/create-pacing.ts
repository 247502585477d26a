import type { ConductorCard, ModelCard } from '../../pool/card';
import type { Config } from '../../pool/config-schema';
import { resolveConductor, resolveWorker } from '../../pool/resolve-card';
import { estimateTokens } from './estimate-tokens';
import { Gate, type GateSettings, type Passage, type Surroundings } from './gate';
import { gateSettingsOf, strictest } from './gate-settings';
import type { Pacing } from './pacing';
import { refused } from './refused';

const SURROUNDINGS: Surroundings = { now: () => performance.now(), random: () => Math.random() };

/** Where this process's configuration knows nothing of a model, nothing holds it back. */
const UNHINDERED: Passage = { admitted: true, leave: () => undefined };

/**
 * The gates of one worker process: one before each model of its configuration, whichever cards and runs share it.
 *
 * By the configuration of the process and not of the run: limits are the process's own affair, as keys are, and a worker
 * that is started with other ones keeps them at once.
 */
export function createPacing(config: Config, surroundings = SURROUNDINGS): Pacing {
  const gates = new Map(
    [...settingsByModel(config)].map(([key, each]) => [key, new Gate(each, surroundings)]),
  );
  return {
    enter: (call, earlier) => {
      const gate = gates.get(keyOf(call.card));
      if (gate === undefined) return UNHINDERED;
      const passage = gate.enter(estimateTokens(call));
      if (!passage.admitted) throw refused(call, passage, gate.settings, earlier);
      return passage;
    },
  };
}

function settingsByModel({ conductor, workers }: Config): Map<string, GateSettings> {
  const settings = new Map<string, GateSettings>();
  const add = (card: ConductorCard | ModelCard, own: GateSettings): void => {
    const other = settings.get(keyOf(card));
    settings.set(keyOf(card), other === undefined ? own : strictest(own, other));
  };
  const today = new Date();
  // A checkpoint is not known before a run is resolved, and its server holds nobody back for money.
  if (conductor.provider !== 'policy') add(resolveConductor(conductor, today), gateSettingsOf(conductor));
  for (const worker of workers) {
    const card = resolveWorker(worker, today);
    if (card.kind === 'model' && 'model' in worker) add(card, gateSettingsOf(worker));
  }
  return settings;
}

/** Providers count by account and model, wherever a card is from. */
function keyOf({ provider, baseUrl, apiKeyEnv, model }: ConductorCard | ModelCard): string {
  return JSON.stringify([provider, baseUrl, apiKeyEnv, model]);
}
