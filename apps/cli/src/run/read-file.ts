import { open } from 'node:fs/promises';
import { EXIT } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { describeFileError } from '../output/file-error.js';

const PIECE_BYTES = 65_536;

/**
 * Reads a file, but never more than a limit: a pipe or `/dev/zero` has no size that could be checked before.
 * @throws the system's error, or a RangeError when the file is larger.
 */
export async function readBoundedFile(path: string, mostBytes: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const pieces: Buffer[] = [];
    let sizeBytes = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, null);
      if (bytesRead === 0) return Buffer.concat(pieces);
      sizeBytes += bytesRead;
      if (sizeBytes > mostBytes) throw new RangeError(`larger than ${mostBytes} bytes`);
      pieces.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/**
 * The same with the file's role in the message.
 * @throws CliError with EXIT.file.
 */
export async function readNamedFile(role: string, path: string, mostBytes: number): Promise<Buffer> {
  try {
    return await readBoundedFile(path, mostBytes);
  } catch (error) {
    throw new CliError(EXIT.file, `cannot read ${role} ${path}: ${describeFileError(error)}`, error);
  }
}
