import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '../../config/errors';
import { readYaml } from '../../config/yaml-source';

/** The profiles that come with this package. */
const FOLDER = join(__dirname, '..', '..', '..', 'profiles');

/** A mapping as YAML gives it, unchecked. */
type Mapping = Readonly<Record<string, unknown>>;

/**
 * A configuration whose `training` is completed by the profile that it names: a mapping is completed key by key, any
 * other value that the configuration has stands.
 *
 * A profile is the name of one that comes with this package, or the path of a YAML file of one's own.
 *
 * @throws ConfigError where there is no such profile, or it is no mapping
 */
export function applyProfile(content: unknown): unknown {
  if (!isMapping(content) || !isMapping(content.training)) return content;
  const { training } = content;
  if (typeof training.profile !== 'string') return content;
  return { ...content, training: complete(readProfile(training.profile), training) };
}

function readProfile(name: string): Mapping {
  const file = /[/\\]|\.ya?ml$/.test(name) ? resolve(name) : join(FOLDER, `${name}.yaml`);
  if (!existsSync(file)) {
    throw new ConfigError(
      `training.profile is ${JSON.stringify(name)}, and there is no such profile: ` +
        `name one of ${shippedProfiles().join(', ')}, or the path of a YAML file`,
    );
  }
  const { content } = readYaml(readFileSync(file, 'utf8'), name);
  if (isMapping(content)) return content;
  throw new ConfigError(`the profile ${name} holds no mapping: write settings of "training:" into it`);
}

function shippedProfiles(): string[] {
  return readdirSync(FOLDER).map((file) => file.replace(/\.yaml$/, ''));
}

/** What differs in kind has different settings: nothing of the profile's is kept then. */
function complete(profile: Mapping, own: Mapping): Mapping {
  if ('kind' in own && own.kind !== profile.kind) return own;
  const both = Object.entries(own).map(([key, value]): [string, unknown] => {
    const preset = profile[key];
    return [key, isMapping(value) && isMapping(preset) ? complete(preset, value) : value];
  });
  return { ...profile, ...Object.fromEntries(both) };
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
