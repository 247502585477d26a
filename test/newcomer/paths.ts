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

/** A name of code within back-ticks, in camel case, which no other word is. */
const NAME_OF_CODE = /`([a-z]+[A-Z]\w*)(?:\(\))?`/g;

/** Returns the names of code that a page of `MAPS` has and that no source mentions. */
export function missingNames(page: string): string[] {
  const named = [...readPage(page).matchAll(NAME_OF_CODE)].map(([, name = '']) => name);
  return named.filter((name) => !name.includes(CHOSEN) && !words().has(name));
}

const SOURCES = ['src', 'web/src', 'test/support', 'tools', 'trainer/src'];

let mentioned: Set<string> | undefined;

function words(): Set<string> {
  mentioned ??= new Set(SOURCES.flatMap(sourcesBelow).flatMap((file) => readPage(file).match(/\w+/g) ?? []));
  return mentioned;
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.includes('node_modules') && /\.(?:[cm]?[jt]sx?|py)$/.test(file))
    .map((file) => join(folder, file));
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
