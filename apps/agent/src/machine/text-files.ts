import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';

/** The small text files of a system. Tests give a table instead. */
export interface TextFiles {
  /** Undefined when it cannot be read, for whatever reason: the fact is not known then. */
  read(path: string): string | undefined;
  /** Names in a folder, sorted; empty when there is none. */
  list(folder: string): string[];
  exists(path: string): boolean;
}

/** The largest of these files, /proc/cpuinfo, has about 1.5 KiB for each processor. */
const MAX_BYTES = 4_194_304;
const CHUNK_BYTES = 65_536;

export const systemFiles: TextFiles = {
  read: (path) => optional(() => readBounded(path)),
  list: (folder) => optional(() => readdirSync(folder).sort()) ?? [],
  exists: (path) => optional(() => statSync(path)) !== undefined,
};

/** Files of /proc have no size, so they are read to their end. */
function readBounded(path: string): string {
  const file = openSync(path, 'r');
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    while (size < MAX_BYTES) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const length = readSync(file, chunk);
      if (length === 0) break;
      chunks.push(chunk.subarray(0, length));
      size += length;
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    closeSync(file);
  }
}

/** Not there, not allowed, not this kind of file: all mean that the fact is not known. Other errors are ours. */
function optional<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'syscall' in error) return undefined;
    throw error;
  }
}
