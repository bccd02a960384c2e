import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** Longest wait for one answer, its end included. */
export const ANSWER_TIMEOUT_MS = 30_000;
/** Largest answer that is read; a report of the longest run stays far below. */
const MAX_ANSWER_BYTES = 256 * 1_048_576;

export interface Question {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Trusted certificates (PEM) for https; absent: Node's own. */
  readonly ca: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';
}

/**
 * One HTTP exchange, which follows no redirect. On a connection of its own: a kept one may have been closed by
 * the coordinator when the next question comes. With node:http, because loading what is behind `fetch` takes
 * longer than all questions of a short run.
 * @throws AnswerTooLargeError; AbortError when the time is up; the error of the socket, with its code.
 */
export function ask(url: URL, { method, headers, body, ca }: Question): Promise<Answer> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method, headers, agent: false, signal, ...(ca === undefined ? {} : { ca }) },
      (response) => {
        const chunks: Buffer[] = [];
        let sizeBytes = 0;
        response.on('data', (chunk: Buffer) => {
          // The body is read piece by piece, because whoever answers at a mistyped address may send without end.
          sizeBytes += chunk.length;
          if (sizeBytes <= MAX_ANSWER_BYTES) chunks.push(chunk);
          else
            response.destroy(new AnswerTooLargeError(`sent an answer larger than ${MAX_ANSWER_BYTES} bytes`));
        });
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
