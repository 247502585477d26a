import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** What Python and its libraries lie in, as names or the beginnings of names. */
const SHOWN: readonly (readonly [folder: string, names: RegExp])[] = [
  ['/usr', /^(?:bin|lib|lib64)$/],
  ['/usr/local', /^bin$/],
  ['/usr/local/lib', /^(?:lib)?python3/],
];

/** Applications lie below what is shown, where npm installs for all users. */
const MASKED = ['/usr/lib/node_modules'];

/** What programs see of this machine: never all of `/usr`, where images have applications with their keys and questions. */
export function shownFolders(): readonly string[] {
  return SHOWN.flatMap(([folder, names]) => {
    const found = existsSync(folder) ? readdirSync(folder) : [];
    return found.filter((name) => names.test(name)).map((name) => join(folder, name));
  });
}

export function maskedFolders(): readonly string[] {
  return MASKED.filter((path) => existsSync(path));
}

/** Those of the paths, a file or folder each, that programs would see. */
export function seenAmong(paths: readonly string[]): readonly string[] {
  const [shown, masked] = [shownFolders(), maskedFolders()].map((folders) => folders.map(real));
  return paths.filter((path) => {
    const place = real(resolve(path));
    const isBelow = (folder: string): boolean => !/^\.\.(?:\/|$)/.test(relative(folder, place));
    return shown?.some(isBelow) === true && masked?.some(isBelow) !== true;
  });
}

/** Without links, also of what is not there yet. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(real(folder), relative(folder, path));
  }
}
