import { release } from 'node:os';
import { Turns } from '../../turns';
import { BubblewrapSandbox, UnsafeSandbox } from './bubblewrap';
import { type Program, type ProgramLimits, type ProgramRun, type Sandbox, SandboxError } from './sandbox';
import { SandboxFusion } from './sandbox-fusion';

const UNSAFE = 'none-unsafe';

/** A sandbox that was seen to work, with the version of its Python. */
export interface ReadySandbox {
  readonly name: string;
  readonly python: string;
  /** Waits for one of the sandbox's places, and runs a program. */
  run(program: Program, limits: ProgramLimits): Promise<ProgramRun>;
}

/** Those that work, by the setting that chose them: a failure is looked into again. */
const ready = new Map<string, Promise<ReadySandbox>>();

/**
 * The sandbox that `CONDUCTOR_SANDBOX` names, tried once: bubblewrap where it says nothing, a URL of SandboxFusion, or
 * `none-unsafe`.
 *
 * @throws SandboxError that says what to do
 */
export function openSandbox(): Promise<ReadySandbox> {
  const { CONDUCTOR_SANDBOX: setting = '' } = process.env;
  const known = ready.get(setting);
  if (known !== undefined) return known;
  const opened = tryOut(setting);
  ready.set(setting, opened);
  opened.catch(() => ready.delete(setting));
  return opened;
}

function choose(setting: string): Sandbox {
  if (setting === '' || setting === 'bubblewrap') return new BubblewrapSandbox();
  if (/^https?:\/\/./.test(setting)) return new SandboxFusion(setting);
  if (setting === UNSAFE) return new UnsafeSandbox();
  throw new SandboxError(
    `CONDUCTOR_SANDBOX is ${JSON.stringify(setting)}: expected nothing or bubblewrap, the URL of a SandboxFusion ` +
      `server, or ${UNSAFE}, which lets a model's programs do whatever this process may`,
  );
}

const LIMITS: ProgramLimits = { seconds: 6, memoryMb: 1024, outputBytes: 1000 };
const GREETING = 'a sandbox';
const PROBE = 'import platform, sys\nprint(platform.python_version(), sys.stdin.read())\n';

async function tryOut(setting: string): Promise<ReadySandbox> {
  const sandbox = choose(setting);
  const run = await sandbox.run({ python: PROBE, stdin: GREETING }, LIMITS).catch((error: unknown) => {
    throw new SandboxError(`${(error as Error).message}. ${remedyFor(sandbox, (error as Error).message)}`);
  });
  const words = run.kind === 'ended' ? `${run.stdout}${run.stderr}`.trim() : run.reason;
  const python = /^(3\.\d+\.\d\S*) a sandbox$/.exec(words)?.[1];
  if (python === undefined) {
    throw new SandboxError(
      `${sandbox.name} ran no Python: ${words.slice(-300)}. ${remedyFor(sandbox, words)}`,
    );
  }
  if (sandbox instanceof BubblewrapSandbox && !countsProcesses(release())) {
    throw new SandboxError(
      `Linux ${release()} counts processes by user and not by sandbox: use 5.14 or newer, or SandboxFusion`,
    );
  }
  if (setting === UNSAFE) {
    process.emitWarning(
      `CONDUCTOR_SANDBOX=${UNSAFE}: programs that models write are run without a sandbox, as this user`,
    );
  }
  const turns = new Turns(sandbox.places);
  return {
    name: sandbox.name,
    python,
    run: (program, limits) => turns.take(() => sandbox.run(program, limits)),
  };
}

function countsProcesses(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

const OTHERWISE =
  'or run SandboxFusion (https://github.com/bytedance/SandboxFusion) elsewhere and name its URL in CONDUCTOR_SANDBOX';

/** By what a sandbox said, the first that fits. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/ENOENT/, 'Install it: "apt-get install bubblewrap"'],
  [/Unknown option/, 'Install bubblewrap 0.8 or newer'],
  [/proc/, 'In a container, let bubblewrap mount /proc: "--security-opt systempaths=unconfined" (Docker)'],
  [
    /namespace|uid map|Operation not permitted|Permission denied/,
    'Let users make namespaces: in a container "--security-opt seccomp=unconfined --security-opt apparmor=unconfined" ' +
      '(Docker), on Ubuntu 24.04 or newer a profile of AppArmor for /usr/bin/bwrap, or "sysctl -w ' +
      'kernel.apparmor_restrict_unprivileged_userns=0", on Debian 11 or older "sysctl -w kernel.unprivileged_userns_clone=1"',
  ],
  [/python3/, 'Install Python 3 in /usr: "apt-get install python3"'],
  [/prlimit/, 'Install prlimit: "apt-get install util-linux"'],
];

function remedyFor(sandbox: Sandbox, words: string): string {
  if (sandbox instanceof SandboxFusion) return 'Start SandboxFusion there, or correct CONDUCTOR_SANDBOX';
  if (sandbox instanceof UnsafeSandbox) return 'Leave CONDUCTOR_SANDBOX out, and install bubblewrap';
  if (process.platform !== 'linux') return `bubblewrap is for Linux: ${OTHERWISE.slice('or '.length)}`;
  const remedy = REMEDIES.find(([pattern]) => pattern.test(words))?.[1] ?? 'Mend that';
  return `${remedy}; ${OTHERWISE}`;
}
