import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram } from '../../src/cli/program';
import { DRAIN_MS } from '../../src/cli/serve/serve';
import { ROOT } from '../newcomer/pages';
import { type Container, optionOf, type Template } from './manifests';

/** Seconds in which a stopped worker hands back the calls that it cut off. */
const HAND_BACK_S = 5;

/** Paths of the product that a probe may ask. */
const PROBED: Readonly<Record<string, readonly string[]>> = {
  worker: ['/'],
  gateway: ['/openapi.json', '/health'],
};

/** Options that name a port, by the name of the port in a manifest. */
const PORTS: Readonly<Record<string, string>> = { health: '--health', metrics: '--metrics', http: '--port' };

/** Returns what pods ask of the product that it does not do, as sentences. */
export function disagreementsOf({ metadata, spec }: Template): string[] {
  const [main] = spec.containers;
  const drainS = DRAIN_MS / 1000 + HAND_BACK_S + (main.lifecycle?.preStop.sleep.seconds ?? 0);
  const scraped = metadata.annotations['prometheus.io/port'];
  return [
    ...[...spec.initContainers, main].flatMap((each) => [...faultsOfArguments(each), ...faultsOfUser(each)]),
    ...faultsOfPorts(main),
    ...faultsOfProbes(main),
    ...(spec.terminationGracePeriodSeconds < drainS
      ? [
          `${main.name} is killed after ${spec.terminationGracePeriodSeconds} s, but may need ${drainS} s to stop`,
        ]
      : []),
    ...(scraped !== undefined && scraped !== portIn(optionOf(main, '--metrics'))
      ? [`${main.name} is scraped at port ${scraped}, where it has no metrics`]
      : []),
  ];
}

/** Returns what a container is started with that the command line, or the trainer, does not know. */
export function faultsOfArguments({ name, args }: Pick<Container, 'name' | 'args'>): string[] {
  if (args[0]?.startsWith('conductor_trainer.')) return faultsOfTrainer(args);
  let command = buildProgram();
  let used = 0;
  for (const word of args) {
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    command = next;
    used += 1;
  }
  if (used === 0) return [`${name} runs ${String(args[0])}, which is no command`];
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  try {
    const { operands, unknown } = command.parseOptions(args.slice(used));
    return [...operands, ...unknown].map((word) => `${name} says ${word}, which its command does not know`);
  } catch (error) {
    return [`${name}: ${(error as Error).message}`];
  }
}

/** Compares with the trainer's parsers, which need its packages to run. */
function faultsOfTrainer([module = '', ...options]: readonly string[]): string[] {
  const source = join(ROOT, 'trainer/src', module.replace('.', '/'));
  const parser = ['__main__.py', '../options.py']
    .map((file) => readFileSync(join(source, file), 'utf8'))
    .join();
  return options
    .map((option) => option.replace(/=.*/, ''))
    .filter((option) => !parser.includes(`"${option}"`))
    .map((option) => `${module} is given ${option}, which it does not know`);
}

function faultsOfUser({ name, securityContext }: Container): string[] {
  const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = securityContext;
  const isConfined =
    !allowPrivilegeEscalation &&
    capabilities.drop.includes('ALL') &&
    (readOnlyRootFilesystem === true || name === 'trainer');
  return isConfined ? [] : [`${name} may do more than it needs`];
}

function faultsOfPorts(container: Container): string[] {
  return container.ports
    .filter(({ name, containerPort }) => {
      const option = PORTS[name];
      return option === undefined || portIn(optionOf(container, option)) !== String(containerPort);
    })
    .map(({ name, containerPort }) => `${container.name} does not listen on port ${containerPort} (${name})`);
}

function faultsOfProbes(container: Container): string[] {
  const { startupProbe, readinessProbe, livenessProbe, ports } = container;
  const expected = ports.some(({ name }) => name === 'metrics') ? 'health' : 'http';
  return [startupProbe, readinessProbe, livenessProbe].flatMap((probe) => {
    if (probe === undefined) return [];
    const { path, port } = probe.httpGet;
    const isAnswered = port === expected && (PROBED[container.name] ?? []).includes(path);
    return isAnswered ? [] : [`${container.name} answers no probe at ${path} of port ${port}`];
  });
}

function portIn(address: string | undefined): string | undefined {
  return address?.replace(/^.*:/, '');
}

/** Returns the names of variables that nothing of ours reads. */
export function unreadVariables(names: Iterable<string>): string[] {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join('src', file));
  const envconfig = 'node_modules/@temporalio/envconfig/lib/envconfig.js';
  // The SDKs of S3 and of OpenTelemetry read their own.
  const documented = ['docs/store.md', 'docs/operate.md'];
  const read = [...sources, envconfig, ...documented].map((file) => readFileSync(join(ROOT, file), 'utf8'));
  return [...names].filter((name) => !read.some((text) => new RegExp(`\\b${name}\\b`).test(text)));
}
