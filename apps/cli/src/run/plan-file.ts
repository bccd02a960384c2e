import { EXIT, formatProblem, type Problem, printable } from '@broadside/shared';
import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
} from 'yaml';
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
  /** As it was typed. */
  readonly path: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** Where a field begins: the nearest part of the path that is in the file; undefined where none is. */
  readonly placeOf: (path: string) => Place | undefined;
}

/** A place of a plan file, as editors name it. */
interface Place {
  /** Line and column, both from 1: `3:1`. */
  readonly name: string;
  /** Characters before it. */
  readonly offset: number;
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
  // The parser goes as deep as the text, and then says of each level that it cannot.
  if (mistakes.some(({ message }) => /call stack/i.test(message))) throw nestedTooDeeply(path);
  if (mistakes.length > 0) {
    const lines = mistakes
      .slice(0, MAX_LISTED_PROBLEMS)
      .map(({ pos, message }) => `${placeName(lineCounter, pos[0])}: not valid YAML: ${oneLine(message)}`);
    throw new CliError(EXIT.usage, `${path}:${lines.join('; ')}`);
  }
  if (documents.length > 1) {
    throw new CliError(EXIT.usage, `${path}: holds ${documents.length} documents; a plan file holds one`);
  }
  assertPlain(path, document.contents, 0);
  const value = toPlainValue(path, document);
  return {
    path,
    value,
    placeOf: (problemPath) => {
      const offset = offsetOfPath(document, problemPath);
      return offset === undefined ? undefined : { name: placeName(lineCounter, offset), offset };
    },
  };
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
  if (depth > MAX_DEPTH) throw nestedTooDeeply(path);
  if (!isCollection(node)) return;
  for (const item of node.items) {
    const child =
      typeof item === 'object' && item !== null && 'value' in item && 'key' in item ? item.value : item;
    assertPlain(path, child, depth + 1);
  }
}

function nestedTooDeeply(path: string): CliError {
  return new CliError(EXIT.usage, `${path}: nested deeper than ${MAX_DEPTH} levels`);
}

function placeName(lineCounter: LineCounter, offset: number): string {
  const { line, col } = lineCounter.linePos(offset);
  return `${line}:${col}`;
}

/** Where the key of a field stands, or a member of a list: what a person looks for. */
function offsetOfPath(document: Document, path: string): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const key of path === '' ? [] : path.split('.')) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
      if (pair === undefined) break;
      offset = rangeStartOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      offset = rangeStartOf(node) ?? offset;
    } else break;
  }
  return offset;
}

function rangeStartOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

/**
 * All problems of a plan as one line, in the order of the file, each with its place there. What stands nowhere in it
 * (a flag, a missing field) comes first.
 */
export function describePlanProblems(problems: readonly Problem[], file?: PlanFile): string {
  const placed = problems.map((problem) => ({ problem, place: file?.placeOf(problem.path) }));
  const inOrder = placed.toSorted((one, other) => (one.place?.offset ?? -1) - (other.place?.offset ?? -1));
  const listed = inOrder
    .slice(0, MAX_LISTED_PROBLEMS)
    .map(({ problem, place }) => `${place === undefined ? '' : `${place.name}: `}${formatProblem(problem)}`);
  const more = problems.length - listed.length;
  // A mistyped name may hold anything.
  const text = printable(listed.join('; ')) + (more > 0 ? `; and ${more} more` : '');
  if (file === undefined) return text;
  // As compilers write it, so that editors and terminals find the place.
  return `${file.path}:${inOrder[0]?.place === undefined ? ' ' : ''}${text}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
