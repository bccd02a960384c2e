// Debian's nginx with a configuration of our own in a temporary folder: it serves /100.html, a page of exactly
// 100 bytes, and nothing of the machine's own nginx is read or touched.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withFreePort } from './free-port.js';
import { LOOPBACK, type Place } from './place.js';
import type { RunningProcess } from './process.js';
import { programPath } from './programs.js';

export interface NginxOptions {
  /** nginx announces the close of a connection in this reply; its own default of 1000 unless told. */
  readonly keepaliveRequests?: number;
  readonly workerCount?: number;
  /** Write one line per request, read back by `accessLog`. Off unless told: it costs the server time. */
  readonly isLogged?: boolean;
  /** More pages: name below the root to content. */
  readonly pages?: Readonly<Record<string, string | Uint8Array>>;
  /** Directives put into the server block, for tests of one special behaviour. */
  readonly serverDirectives?: string;
  /** Loopback unless told. */
  readonly place?: Place;
}

/** One line of the access log. */
export interface NginxRequest {
  /** When nginx finished it: ms since 1970, whole ms. */
  readonly endedAtMs: number;
  readonly clientAddress: string;
  /** Serial number of the connection that carried the request. */
  readonly connection: number;
  /** 1 for the first request of its connection. */
  readonly requestOnConnection: number;
  readonly status: number;
  readonly bytesSent: number;
  readonly requestLine: string;
}

/** One running nginx. `stop()` it in afterAll. */
export class NginxServer {
  readonly port: number;
  /** Root of the server, without a slash at the end. */
  readonly url: string;
  readonly #folder: string;
  readonly #process: RunningProcess;

  private constructor(port: number, address: string, folder: string, started: RunningProcess) {
    this.port = port;
    this.url = `http://${address}:${port}`;
    this.#folder = folder;
    this.#process = started;
  }

  static async start(options: NginxOptions = {}): Promise<NginxServer> {
    const folder = await mkdtemp(join(tmpdir(), 'broadside-nginx-'));
    try {
      const pages = { '100.html': hundredBytes(), ...options.pages };
      await mkdir(join(folder, 'www'));
      for (const [name, content] of Object.entries(pages)) {
        await writeFile(join(folder, 'www', name), content);
      }
      const { address } = options.place ?? LOOPBACK;
      return await withFreePort(
        async (port) => new NginxServer(port, address, folder, await launch(port, folder, options)),
      );
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Requests in the order in which nginx finished them. Needs `isLogged`. */
  async accessLog(): Promise<NginxRequest[]> {
    const text = await readFile(join(this.#folder, 'access.log'), 'utf8');
    return text.split('\n').filter(Boolean).map(parseLogLine);
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function launch(port: number, folder: string, options: NginxOptions): Promise<RunningProcess> {
  const path = join(folder, 'nginx.conf');
  await writeFile(path, configuration(port, folder, options));
  const place = options.place ?? LOOPBACK;
  const started = await place.start(programPath('nginx'), ['-p', folder, '-e', 'stderr', '-c', path]);
  try {
    // The listening socket exists before this line, so a connection is accepted from here on.
    await started.waitForLine(/start worker processes/);
  } catch (error) {
    await started.kill();
    throw error;
  }
  return started;
}

function configuration(port: number, folder: string, options: NginxOptions): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return [
    'daemon off;',
    // Workers of a root nginx would become an account that may not read the temporary folder.
    process.getuid?.() === 0 ? 'user root;' : '',
    `worker_processes ${options.workerCount ?? 1};`,
    `pid ${folder}/nginx.pid;`,
    'error_log stderr notice;',
    'events { worker_connections 16384; }',
    'http {',
    '  types { text/html html; }',
    `  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}`,
    "  log_format requests '$msec $remote_addr $connection $connection_requests $status $bytes_sent $request';",
    `  access_log ${options.isLogged === true ? `${folder}/access.log requests` : 'off'};`,
    `  keepalive_requests ${options.keepaliveRequests ?? 1000};`,
    '  server {',
    `    listen ${(options.place ?? LOOPBACK).address}:${port} backlog=4096;`,
    `    root ${folder}/www;`,
    `    ${options.serverDirectives ?? ''}`,
    '  }',
    '}',
    '',
  ].join('\n');
}

function parseLogLine(line: string): NginxRequest {
  const [endedAt, clientAddress, connection, requestOnConnection, status, bytesSent, ...rest] =
    line.split(' ');
  return {
    endedAtMs: Math.round(Number(endedAt) * 1_000),
    clientAddress: clientAddress ?? '',
    connection: Number(connection),
    requestOnConnection: Number(requestOnConnection),
    status: Number(status),
    bytesSent: Number(bytesSent),
    requestLine: rest.join(' '),
  };
}

function hundredBytes(): string {
  const start = '<!doctype html><title>Broadside</title><p>';
  return `${start}${'x'.repeat(100 - start.length)}`;
}
