import { EXIT, formatProblem, type Problem } from '@broadside/shared';
import { type Document, isCollection, LineCounter, parseAllDocuments } from 'yaml';
import { CliError } from '../cli-error.js';
import { readNamedFile } from './read-file.js';

/** Largest plan file: the body of a request may be in it, base64 and all. */
const MAX_PLAN_FILE_BYTES = 4_194_304;
/** Deepest nesting that is read; a plan needs three levels. */
const MAX_DEPTH = 20;
/** Most problems that are listed; more is noise. */
const MAX_LISTED_PROBLEMS = 20;

/** A plan file as a plain value, and where its parts stand. */
export interface PlanFile {
  readonly value: Readonly<Record<string, unknown>>;
  /** Line of a field, 1-based, for the nearest part of the path that is in the file. */
  readonly lineOf: (path: string) => number | undefined;
}

export async function readPlanFile(path: string): Promise<PlanFile> {
  const bytes = await readNamedFile('plan file', path, MAX_PLAN_FILE_BYTES);
  return parsePlanText(path, bytes.toString('utf8'));
}

/**
 * YAML text (JSON is YAML) to a plain value. Aliases are refused: a plan needs none, and a few nested ones can
 * ask for any amount of memory.
 * @throws CliError with EXIT.usage, with every mistake of the text and its line.
 */
export function parsePlanText(path: string, text: string): PlanFile {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false, version: '1.2' });
  const document = Array.isArray(documents) ? documents[0] : undefined;
  if (document === undefined) throw new CliError(EXIT.usage, `${path}: the plan file is empty`);
  const mistakes = [...documents].flatMap((part) => part.errors);
  if (mistakes.length > 0) {
    const lines = mistakes
      .slice(0, MAX_LISTED_PROBLEMS)
      .map((mistake) => `line ${lineCounter.linePos(mistake.pos[0]).line}: ${oneLine(mistake.message)}`);
    throw new CliError(EXIT.usage, `${path}: not valid YAML: ${lines.join('; ')}`);
  }
  if (documents.length > 1) {
    throw new CliError(EXIT.usage, `${path}: holds ${documents.length} documents; a plan file holds one`);
  }
  assertPlain(path, document.contents, 0);
  const value = toPlainValue(path, document);
  return { value, lineOf: (problemPath) => lineOfPath(document, lineCounter, problemPath) };
}

function toPlainValue(path: string, document: Document): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw new CliError(EXIT.usage, `${path}: aliases are not allowed in a plan file`, error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CliError(
      EXIT.usage,
      `${path}: must be a map of names to values, like \`target: http://host/\``,
    );
  }
  // The prototype check above leaves only plain maps; the entries are copied to state that to the type system.
  return Object.fromEntries(Object.entries(value));
}

function assertPlain(path: string, node: unknown, depth: number): void {
  if (depth > MAX_DEPTH) throw new CliError(EXIT.usage, `${path}: nested deeper than ${MAX_DEPTH} levels`);
  if (!isCollection(node)) return;
  for (const item of node.items) {
    const child =
      typeof item === 'object' && item !== null && 'value' in item && 'key' in item ? item.value : item;
    assertPlain(path, child, depth + 1);
  }
}

function lineOfPath(document: Document, lineCounter: LineCounter, path: string): number | undefined {
  const keys = path === '' ? [] : path.split('.');
  for (let length = keys.length; length > 0; length--) {
    const node = document.getIn(
      keys.slice(0, length).map((key) => (/^\d+$/.test(key) ? Number(key) : key)),
      true,
    );
    const start = rangeStartOf(node);
    if (start !== undefined) return lineCounter.linePos(start).line;
  }
  return undefined;
}

function rangeStartOf(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range))
    return undefined;
  const start: unknown = node.range[0];
  return typeof start === 'number' ? start : undefined;
}

/** All problems of a plan as one line, each with the line of the file where it stands. */
export function describePlanProblems(problems: readonly Problem[], file: PlanFile | undefined): string {
  const listed = problems.slice(0, MAX_LISTED_PROBLEMS).map((problem) => {
    const line = file?.lineOf(problem.path);
    return `${line === undefined ? '' : `line ${line}: `}${formatProblem(problem)}`;
  });
  const more = problems.length - listed.length;
  return listed.join('; ') + (more > 0 ? `; and ${more} more` : '');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
