import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readPage, ROOT } from './pages';

/** A path within back-ticks: words with a slash between them, or a name with an extension of ours. */
const PATH = /`((?:[\w.@-]+\/)+[\w.@-]*|[\w.@-]+\.(?:ts|tsx|mjs|cjs|js|py|md|json|jsonc|ya?ml))`/g;

/** A page writes NAME for the part of a new file's path that its reader chooses. */
const CHOSEN = 'NAME';

/** Folders that an installation or a build writes. */
const MADE = ['node_modules', 'lib', 'dist', '.git', '.conductor'];

/**
 * Returns the paths that a page of `MAPS` names and that do not exist, in its folder or in the repository's. A name alone
 * may be that of any file.
 */
export function missingPaths(page: string): string[] {
  const named = [...readPage(page).matchAll(PATH)].map(([, path = '']) => path);
  return named.filter((path) => !path.includes(CHOSEN) && !exists(path, dirname(page)));
}

function exists(path: string, folder: string): boolean {
  return [folder, '.'].some((each) => existsSync(join(ROOT, each, path))) || names().has(path);
}

let known: Set<string> | undefined;

function names(): Set<string> {
  const folders = readdirSync(ROOT, { withFileTypes: true }).filter(({ name }) => !MADE.includes(name));
  known ??= new Set(
    folders.flatMap((entry) =>
      entry.isDirectory()
        ? readdirSync(join(ROOT, entry.name), { recursive: true, encoding: 'utf8' }).map((path) =>
            basename(path),
          )
        : [entry.name],
    ),
  );
  return known;
}
