import { connect, type Socket } from 'node:net';

/** How the other side ended the connection. */
export type Ending = 'fin' | 'reset';

export interface RequestParts {
  readonly method?: string;
  readonly version?: '1.0' | '1.1';
  readonly connection?: string;
}

/** A client that knows no HTTP: what it is told to send, and the bytes and the ending that came back. */
export class RawClient {
  readonly socket: Socket;
  /** Resolves once the other side has ended the connection. */
  readonly ending: Promise<Ending>;
  #received = '';
  #ended: Ending | undefined;
  #onChange: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.ending = new Promise((resolve) => {
      const end = (how: Ending): void => {
        this.#ended ??= how;
        this.#onChange();
        resolve(this.#ended);
      };
      socket.setEncoding('latin1').on('data', (text: string) => {
        this.#received += text;
        this.#onChange();
      });
      socket.on('end', () => end('fin'));
      socket.on('error', () => end('reset'));
    });
  }

  static async open(port: number): Promise<RawClient> {
    // Half-open, so that the test and not the library decides when this side ends.
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const client = new RawClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return client;
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  request(parts: RequestParts = {}): void {
    const connection = parts.connection === undefined ? '' : `Connection: ${parts.connection}\r\n`;
    this.send(`${parts.method ?? 'GET'} / HTTP/${parts.version ?? '1.1'}\r\nHost: x\r\n${connection}\r\n`);
  }

  /** Everything received so far and not taken yet. */
  get received(): string {
    return this.#received;
  }

  /** Takes and returns so many bytes; rejects when the connection ends before. */
  async take(sizeBytes: number): Promise<string> {
    await this.#until(() => this.#received.length >= sizeBytes);
    const taken = this.#received.slice(0, sizeBytes);
    this.#received = this.#received.slice(sizeBytes);
    return taken;
  }

  /** Takes up to and including the first occurrence of `mark`. */
  async takeThrough(mark: string): Promise<string> {
    await this.#until(() => this.#received.includes(mark));
    return this.take(this.#received.indexOf(mark) + mark.length);
  }

  close(): void {
    this.socket.destroy();
  }

  async #until(isMet: () => boolean): Promise<void> {
    while (!isMet()) {
      if (this.#ended !== undefined)
        throw new Error(`ended (${this.#ended}) after ${JSON.stringify(this.#received)}`);
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }
}
