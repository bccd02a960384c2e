const REASON_OF_FILE_CODE: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is no folder',
  EROFS: 'read-only file system',
  ENOSPC: 'no space left',
  ENAMETOOLONG: 'the name is too long',
};

/** A system error of a file in words. */
export function describeFileError(error: unknown): string {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return REASON_OF_FILE_CODE[code] ?? (error instanceof Error ? error.message : String(error));
}
