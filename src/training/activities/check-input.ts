import type { z } from 'zod';
import { checkRun, checkShape } from '../../activities';
import { ConfigError } from '../../config/errors';
import { trainingOf } from '../config/resolve';
import type { TrainableConfig } from '../config/schema';
import * as inputs from '../inputs';
import * as names from '../names';
import { serversOf } from '../names';

const SCHEMAS = {
  [names.TRAIN_WORKFLOW]: inputs.trainInputSchema,
  [names.NIGHTLY_WORKFLOW]: inputs.nightlyInputSchema,
  [names.GROUP_WORKFLOW]: inputs.groupInputSchema,
  [names.WARM_START_WORKFLOW]: inputs.warmStartInputSchema,
  [names.EXPORT_WORKFLOW]: inputs.exportInputSchema,
};

type WorkflowName = keyof typeof SCHEMAS;

export interface CheckInputRequest {
  readonly workflow: WorkflowName;
  readonly input: unknown;
}

/**
 * Local activity `conductor.train.checkPlaces`: checks that an input is valid and names only configured places.
 * @throws ApplicationFailure `Solve.BadInput`, or ConfigError for any other place
 */
export function checkTrainingInput(
  configured: { readonly config: TrainableConfig },
  { workflow, input }: CheckInputRequest,
): Promise<void> {
  const data = checkShape(SCHEMAS[workflow], input, `the input of ${workflow}`);
  checkPlaces(configured, placesIn(data));
  if ('run' in data) checkRun(configured, data.run);
  return Promise.resolve();
}

function placesIn(input: z.infer<(typeof SCHEMAS)[WorkflowName]>): NamedPlaces {
  if ('directory' in input) return { trainerQueue: input.taskQueue };
  if (!('init' in input)) return {};
  const { settings, init } = input;
  const modelFolder = init.base.kind === 'folder' ? init.base.path : undefined;
  return { policyServers: serversOf(settings.policy), trainerQueue: settings.trainer.taskQueue, modelFolder };
}

interface NamedPlaces {
  readonly policyServers?: readonly string[];
  readonly trainerQueue?: string;
  /** Folder of the base model, on the trainer's machine. */
  readonly modelFolder?: string | undefined;
}

/** Refuses places other than the configured ones, since any client may write an input. @throws ConfigError */
export function checkPlaces({ config }: { readonly config: TrainableConfig }, named: NamedPlaces): void {
  const { policy, trainer, base } = trainingOf(config);
  const { policyServers = [], trainerQueue, modelFolder } = named;
  const own = serversOf(policy);
  const places = [
    ...policyServers.map((server) => ['the policy server', server, 'training.policy.baseUrl', own] as const),
    ["the trainer's queue", trainerQueue, 'training.trainer.taskQueue', [trainer.taskQueue]],
    ['the base model', modelFolder, 'training.base', [base.kind === 'folder' ? base.path : base.kind]],
  ] as const;
  for (const [what, name, setting, allowed] of places) {
    if (name === undefined || allowed.includes(name)) continue;
    throw new ConfigError(
      `the input names ${what} ${name}, and ${setting} is ${allowed.join(', ')} in the configuration of this worker process: give all ` +
        'worker processes the same configuration, and start it again',
    );
  }
}
