import { dirname, resolve } from 'node:path';
import { codeOf, reasonOf } from '../errors';

/** Says why a file that somebody named cannot be read by this process. */
export function whyUnreadable(file: string, cause: unknown): string {
  if (codeOf(cause) !== 'ENOENT') return `${file} cannot be read: ${reasonOf(cause)}`;
  return `${file} does not exist (looked in ${dirname(resolve(file))}): check the path`;
}
