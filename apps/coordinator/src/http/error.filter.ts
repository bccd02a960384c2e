import type { ServerResponse } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Logger } from 'pino';
import { FailureLog } from '../failure-log.js';
import { errorReplyOf } from './error-body.js';

/** The one door for errors of REST requests. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  readonly #failures: FailureLog;

  constructor(log: Logger) {
    this.#failures = new FailureLog(log);
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<ServerResponse>();
    const reply = errorReplyOf(error);
    if (reply.isOurs) this.#failures.error(error, 'a request failed');
    sendError(response, reply);
  }
}

function sendError(response: ServerResponse, reply: ReturnType<typeof errorReplyOf>): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const text = JSON.stringify(reply.body);
  response.statusCode = reply.status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  if (reply.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  response.end(text);
}
