import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { oneLine } from '../trace/lines';
import type { Picture } from './chart';

/** Rows of text, the head first. */
export interface Table {
  readonly rows: readonly (readonly string[])[];
  /** Whether all columns but the first hold numbers. */
  readonly numeric: boolean;
}

/** Text of a model or a question, shown with its own line breaks. */
export interface Quote {
  readonly quote: string;
}

/** Content of both `report.md` and `report.html`: sentences as plain text, tables, quotes and pictures. */
export interface Report {
  readonly title: string;
  readonly parts: readonly (string | Table | Quote | Picture)[];
}

/** Writes `report.md`, `report.html` and the pictures, and returns their paths. */
export async function writeReport(report: Report, folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const pictures = report.parts.filter((part): part is Picture => typeof part === 'object' && 'svg' in part);
  const files = [
    { file: 'report.md', text: renderReportMarkdown(report) },
    { file: 'report.html', text: renderHtml(report) },
    ...pictures.map(({ file, svg }) => ({ file, text: svg })),
  ];
  for (const { file, text } of files) await writeFile(join(folder, file), text);
  return files.map(({ file }) => join(folder, file));
}

/** Limits in characters, since names in texts may come from strangers. */
const MOST_OF_TEXT = 1000;
const MOST_OF_CELL = 200;
const MOST_OF_QUOTE = 20_000;

/** Returns a clipped quote without characters that control a terminal or the direction of writing. */
function plainLines({ quote }: Quote): string {
  const shown = quote
    .slice(0, MOST_OF_QUOTE)
    .replace(/[^\P{Cc}\n\t]|[\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, '');
  const left = quote.length - MOST_OF_QUOTE;
  return left > 0 ? `${shown}\n… and ${left.toLocaleString('en-US')} more characters` : shown;
}

/** Returns a block of code, within a fence that is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

export function renderReportMarkdown({ title, parts }: Report): string {
  const blocks = parts.map((part) => {
    if (typeof part === 'string') return escapeMarkdown(part);
    if ('quote' in part) return fenced(plainLines(part));
    return 'svg' in part ? `![${part.file}](${part.file})` : markdownTable(part);
  });
  return `${[`# ${escapeMarkdown(title)}`, ...blocks].join('\n\n')}\n`;
}

function escapeMarkdown(text: string): string {
  return oneLine(text, MOST_OF_TEXT).replace(/[\\`*[\]|]|<(?=\S)/g, '\\$&');
}

function markdownTable({ rows: [head = [], ...rows], numeric }: Table): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => escapeMarkdown(oneLine(cell, MOST_OF_CELL))).join(' | ')} |`;
  const rule = head.map((_, column) => (column === 0 || !numeric ? '---' : '---:'));
  return [head, rule, ...rows].map(line).join('\n');
}

const PAGE = join(__dirname, '../../src/report/report.html');

/** Renders a self-contained page: its content security policy forbids scripts, fonts and images. */
export function renderHtml({ title, parts }: Report): string {
  const blocks = parts.map((part) => {
    if (typeof part === 'string') return `<p>${escapeHtml(part)}</p>`;
    if ('quote' in part) return `<pre>${replaceEntities(plainLines(part))}</pre>`;
    return 'svg' in part ? `<figure>${part.svg}</figure>` : htmlTable(part);
  });
  const filled = { title: escapeHtml(title), blocks: blocks.join('\n') };
  return readFileSync(PAGE, 'utf8').replace(
    /\{\{(title|blocks)\}\}/g,
    (_, name: keyof typeof filled) => filled[name],
  );
}

function htmlTable({ rows: [head = [], ...rows], numeric }: Table): string {
  const line = (tag: 'th' | 'td') => (cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(oneLine(cell, MOST_OF_CELL))}</${tag}>`).join('')}</tr>`;
  return [
    numeric ? '<table class="numeric">' : '<table>',
    line('th')(head),
    ...rows.map(line('td')),
    '</table>',
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeHtml(text: string): string {
  return replaceEntities(oneLine(text, MOST_OF_TEXT));
}

function replaceEntities(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}
