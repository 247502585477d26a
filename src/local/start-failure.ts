/** Why the server ended right after its start. */
export interface StartFailure {
  /** One line, in the server's own words. */
  readonly reason: string;
  /** It lost a port, its own or one of those it chooses for itself, to another program: others may be free. */
  readonly portTaken: boolean;
}

/** In the words of Unix and of Windows. */
const PORT_TAKEN = /listen tcp \S+: bind: (?:address already in use|Only one usage of each socket address)/;
const VERDICT = /^(?:Error|panic): /;
const REASON_LENGTH = 300;

/**
 * Finds the one line that matters in what the server wrote until it ended, which may be pages: it wraps an error in
 * what each of its parts was about to build, and follows it with the stacks of all its threads.
 */
export function readStartFailure(log: string): StartFailure {
  const lines = log.trim().split('\n');
  // Its metrics it does without: a port taken there is a warning.
  const taken = PORT_TAKEN.exec(lines.filter((line) => !line.includes('level=WARN')).join('\n'));
  if (taken) return { reason: taken[0], portTaken: true };

  const verdict = lines.findLast((line) => VERDICT.test(line)) ?? lines.at(-1) ?? '';
  return { reason: lastPart(verdict) || 'it wrote nothing', portTaken: false };
}

/** Errors of Go end with their cause. */
function lastPart(line: string): string {
  return line.length > REASON_LENGTH ? `… ${line.slice(-REASON_LENGTH)}` : line;
}
