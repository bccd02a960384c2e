import type { TextFiles } from '../machine/text-files.js';

/** Files from a table of paths and contents; folders are what the paths imply. */
export function tableFiles(table: Readonly<Record<string, string>>): TextFiles {
  return {
    read: (path) => table[path],
    list: (folder) => {
      const start = `${folder}/`;
      const inside = Object.keys(table).filter((path) => path.startsWith(start));
      return [...new Set(inside.map((path) => path.slice(start.length).split('/', 1)[0] ?? ''))].sort();
    },
    exists: (path) => path in table,
  };
}
