import type { IncomingMessage } from 'node:http';

export function isBelow(path: string, route: string): boolean {
  return path === route || path.startsWith(`${route}/`);
}

/** The path alone, in lower case because the router does not tell cases apart. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/';
  const end = url.search(/[?#]/);
  return (end < 0 ? url : url.slice(0, end)).toLowerCase();
}
