/**
 * The port that a program is told to listen on.
 *
 * @throws Error where it is none
 */
export function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return port;
  throw new Error(`--port takes a number from 0 (any free port) to 65535, not "${text}".`);
}
