import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { nameOfCard } from '../../config/cards';
import { ConfigError } from '../../config/errors';
import { type ConfigReader, createConfigReader, readYaml } from '../../config/load';
import { haveNoPrice, isPriced, noticesOf, resolveRun } from '../../config/resolve-run';
import { isRecord } from '../../plan/validate';
import { type TrainableConfig, type TrainableInput, trainingConfigSchema } from './schema';

type TrainableConfigReader = ConfigReader<TrainableInput, TrainableConfig>;
const reader: TrainableConfigReader = createConfigReader(trainingConfigSchema, applyProfile, (config) => [
  ...noticesOf(config),
  ...budgetNoticesOf(config),
]);
// Named types: spelled out in the declaration file, they fail under a user's stricter compiler options.
export const loadTrainableConfig: TrainableConfigReader['load'] = reader.load;
export const parseTrainable: TrainableConfigReader['parse'] = reader.parse;
export const readGivenTrainable: TrainableConfigReader['readGiven'] = reader.readGiven;

/** Returns a notice if the cost budget cannot be enforced; the policy is one's own, so only workers have prices. */
export function budgetNoticesOf(config: TrainableConfig): string[] {
  const costUsd = config.training?.budget.costUsd ?? null;
  const unpriced = resolveRun(config).workers.filter((worker) => !isPriced(worker));
  const names = unpriced.map(nameOfCard);
  if (costUsd === null || names.length === 0) return [];
  return [
    `training.budget.costUsd ($${costUsd}) cannot be enforced: ${haveNoPrice(names)}. ` +
      'Give each worker a "price:"; training.budget.hours still binds.',
  ];
}

const PROFILES = join(__dirname, '..', '..', '..', 'profiles');

type Mapping = Readonly<Record<string, unknown>>;

/** Fills in the profile: mappings merge key by key, and every other value of the configuration overrides it. */
function applyProfile(content: unknown): unknown {
  if (!isRecord(content) || !isRecord(content.training)) return content;
  const { training } = content;
  if (typeof training.profile !== 'string') return content;
  return { ...content, training: complete(readProfile(training.profile), training) };
}

export function readProfile(name: string): Mapping {
  const file = /[/\\]|\.ya?ml$/.test(name) ? resolve(name) : join(PROFILES, `${name}.yaml`);
  if (!existsSync(file)) {
    const shipped = shippedProfiles().map((profile) => profile.name);
    throw new ConfigError(
      `training.profile is ${JSON.stringify(name)}, and there is no such profile: ` +
        `name one of ${shipped.join(', ')}, or the path of a YAML file`,
    );
  }
  const { content } = readYaml(readFileSync(file, 'utf8'), name);
  if (isRecord(content)) return content;
  throw new ConfigError(`the profile ${name} holds no mapping: write settings of "training:" into it`);
}

/** Returns the profiles of this package, each with the first clause of its leading comment. */
export function shippedProfiles(): { readonly name: string; readonly summary: string }[] {
  const files = readdirSync(PROFILES).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => {
    const words = readFileSync(join(PROFILES, file), 'utf8').replaceAll(/\n# ?/g, ' ');
    const [summary = ''] = words.slice(2).split(/[:.;] /, 1);
    return { name: file.replace(/\.yaml$/, ''), summary };
  });
}

/** Merges `own` over `profile`; a mapping of another `kind` replaces the profile's, whose settings differ. */
function complete(profile: Mapping, own: Mapping): Mapping {
  if ('kind' in own && own.kind !== profile.kind) return own;
  const both = Object.entries(own).map(([key, value]): [string, unknown] => {
    const preset = profile[key];
    return [key, isRecord(value) && isRecord(preset) ? complete(preset, value) : value];
  });
  return { ...profile, ...Object.fromEntries(both) };
}
