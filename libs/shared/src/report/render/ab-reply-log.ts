import type { Report } from '../report.schema.js';

/** Everything below a blank but tab and line ends, and DEL. */
function isUnsafe(code: number): boolean {
  return code === 0x7f || (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d);
}

/**
 * What ab prints of a reply from verbosity 2 on, here of the first one, which is the only one that is kept: what was
 * read until its header was whole, then its status. One character for each byte. Control characters, which could
 * move the cursor, become question marks. Empty when nothing was read.
 */
export function abReplyLog({ target }: Pick<Report, 'target'>, verbosity: number): string {
  const { firstReply = '' } = target;
  if (verbosity < 2 || firstReply === '') return '';
  let shown = '';
  for (let i = 0; i < firstReply.length; i++) {
    shown += isUnsafe(firstReply.charCodeAt(i)) ? '?' : firstReply.charAt(i);
  }
  return `LOG: header received:\n${shown}\n${statusLine(firstReply, verbosity)}`;
}

/** As ab finds it: three characters, nine after the first `HTTP`; 500 where there is none. */
function statusLine(reply: string, verbosity: number): string {
  if (!/\r\n\r\n|\n\n/.test(reply)) return '';
  const at = reply.indexOf('HTTP');
  const status = at < 0 || reply.length < at + 12 ? '500' : reply.slice(at + 9, at + 12);
  if (!status.startsWith('2')) return `WARNING: Response code not 2xx (${status})\n`;
  return verbosity >= 3 ? `LOG: Response code = ${status}\n` : '';
}
