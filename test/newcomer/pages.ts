import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(__dirname, '..', '..');

/** Every page that a user reads, in the order in which the README's map leads to them. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
  'docker/README.md',
  'examples/README.md',
  'SECURITY.md',
];

/** Every page for those who change the repository. */
export const MAPS: readonly string[] = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...['trainer', 'web', 'test', 'research', 'scripts', 'tools', ...areasOfSource()].map(
    (area) => `${area}/README.md`,
  ),
].filter((page) => existsSync(join(ROOT, page)));

function areasOfSource(): string[] {
  return readdirSync(join(ROOT, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}`);
}

export const readPage = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** A fenced block of a page. */
export interface Fence {
  readonly language: string;
  /** Whether the word `newcomer` follows its language, so that it is played; see `blocks.ts`. */
  readonly isPlayed: boolean;
  readonly content: string;
  readonly line: number;
}

const FENCE = /^```(\w+)( newcomer)?[^\n]*\n([^]*?)^```$/gm;

export function fencesOf(document: string): Fence[] {
  return [...document.matchAll(FENCE)].map(({ 1: language = '', 2: mark, 3: content = '', index }) => ({
    language,
    isPlayed: mark !== undefined,
    content,
    line: document.slice(0, index).split('\n').length,
  }));
}
