/** Numbers of a system call on x86-64 and aarch64; null if the architecture lacks it. */
type Numbers = readonly [x64: number | null, arm64: number | null];

/** Calls that hold memory outside the limit of the address space. */
const MEMORY: Readonly<Record<string, Numbers>> = {
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  msgget: [68, 186],
  semget: [64, 190],
  mq_open: [240, 180],
  vmsplice: [278, 75],
  io_setup: [206, 0],
  io_uring_setup: [425, 425],
  inotify_init: [253, null],
  inotify_init1: [294, 26],
  fanotify_init: [300, 262],
  landlock_create_ruleset: [444, 444],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  // Network buffers, and ways to enlarge them.
  socket: [41, 198],
  setsockopt: [54, 208],
};

/** Calls that reach beyond the program, or change its scheduling so that it seems to have had no CPU time. */
const REACH: Readonly<Record<string, Numbers>> = {
  unshare: [272, 97],
  setns: [308, 268],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  setpriority: [141, 140],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setattr: [314, 274],
  sched_setaffinity: [203, 122],
};

/** Calls that create processes. `clone` creates threads as well; a flag distinguishes them. */
const PROCESSES: Readonly<Record<string, Numbers>> = { fork: [57, null], vfork: [58, null] };
const CLONE: Numbers = [56, 220];
/** Reported as missing, since a filter cannot read its flags: programs then fall back to `clone`. */
const CLONE3 = 435;
const CLONE_THREAD = 0x10000;

const FCNTL: Numbers = [72, 25];
/** Commands that lock a part of a file; each lock takes memory in the kernel. */
const LOCK_COMMANDS = [6, 7, 37, 38];

/** Highest system call number that was reviewed; later ones are reported as missing. */
const LAST_KNOWN = 462;

const ARCHITECTURES = { x64: [0, 0xc000003e], arm64: [1, 0xc00000b7] } as const;

const [EPERM, EAGAIN, ENOSYS] = [1, 11, 38];

/** A classic BPF instruction: code, jump if true, jump if false, constant. */
type Instruction = readonly [code: number, yes: number, no: number, k: number];

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_GREATER = 0x25;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const [NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT] = [0, 4, 16];
const ALLOW: Instruction = [RETURN, 0, 0, 0x7fff0000];
const KILL: Instruction = [RETURN, 0, 0, 0x80000000];

function fail(errno: number): Instruction {
  return [RETURN, 0, 0, 0x00050000 | errno];
}

/**
 * Returns the filter for bubblewrap's `--seccomp`, or null if the processor is not supported. It leaves a program one
 * process with its threads, files that it may read, and memory that counts as its address space.
 */
export function systemCallFilter(processor: string = process.arch): Buffer | null {
  if (processor !== 'x64' && processor !== 'arm64') return null;
  const [column, architecture] = ARCHITECTURES[processor];
  const deny = (calls: readonly Numbers[], errno: number): Instruction[] =>
    calls.flatMap((numbers): Instruction[] => {
      const number = numbers[column];
      return number === null ? [] : [[IF_EQUAL, 0, 1, number], fail(errno)];
    });
  return assemble([
    [LOAD, 0, 0, ARCHITECTURE_AT],
    [IF_EQUAL, 1, 0, architecture],
    KILL,
    [LOAD, 0, 0, NUMBER_AT],
    [IF_GREATER, 0, 1, LAST_KNOWN],
    fail(ENOSYS),
    ...deny([...Object.values(MEMORY), ...Object.values(REACH)], EPERM),
    ...deny(Object.values(PROCESSES), EAGAIN),
    ...deny([[CLONE3, CLONE3]], ENOSYS),
    [IF_EQUAL, 0, 4, CLONE[column] ?? 0],
    [LOAD, 0, 0, ARGUMENTS_AT],
    [IF_ANY_BIT, 1, 0, CLONE_THREAD],
    fail(EAGAIN),
    ALLOW,
    [IF_EQUAL, 1, 0, FCNTL[column] ?? 0],
    ALLOW,
    [LOAD, 0, 0, ARGUMENTS_AT + 8],
    ...LOCK_COMMANDS.flatMap((command): Instruction[] => [[IF_EQUAL, 0, 1, command], fail(EPERM)]),
    ALLOW,
  ]);
}

function assemble(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * instructions.length);
  for (const [index, [code, yes, no, k]] of instructions.entries()) {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(yes, 8 * index + 2);
    bytes.writeUInt8(no, 8 * index + 3);
    bytes.writeUInt32LE(k, 8 * index + 4);
  }
  return bytes;
}
