import { reasonOf } from '../../local/reason-of';
import type { Config } from '../../pool/config-schema';
import { describeConductor } from '../../pool/describe-conductor';
import { loadConfig, type LoadedConfig } from '../../pool/load-config';
import { resolveRun } from '../../pool/resolve-run';
import { modelCardsOf } from '../load-settings';
import { broken, fine, note, type Finding } from './finding';

/** The configuration, if it can be used, and what there is to say of it. */
export async function checkConfig(
  path: string | undefined,
): Promise<{ config: Config | null; findings: Finding[] }> {
  const what = 'Configuration';
  try {
    const loaded = await loadConfig({ env: process.env, cwd: process.cwd(), ...(path && { path }) });
    const notes = loaded.notices.map((notice) => note(what, notice));
    return { config: loaded.config, findings: [fine(what, originOf(loaded)), ...notes] };
  } catch (error) {
    return { config: null, findings: [broken(what, reasonOf(error))] };
  }
}

function originOf({ path, config }: LoadedConfig): string {
  const { conductor, workers } = config;
  const pool = `Conductor ${describeConductor(conductor)}, workers ${workers.map(({ id }) => id).join(', ')}`;
  return `${path ?? 'built in'}: ${pool}`;
}

/** Whether the key variables are set; what is in them is nobody's business. */
export function checkKeys(config: Config): Finding[] {
  const names = modelCardsOf(resolveRun(config)).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  return [...new Set(names)].map((name) =>
    process.env[name]
      ? fine('Key', `${name} is set`)
      : broken('Key', `${name} is not set: put the key into this environment variable`),
  );
}
