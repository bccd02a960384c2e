import type { MessagePort } from 'node:worker_threads';

/** What the thread of the embedded PostgreSQL is started with. */
export interface ThreadOptions {
  /** A directory that belongs to this process alone. */
  readonly directory: string;
  /** What the cluster is made from if the directory has none. */
  readonly templateDir: string;
  /** May lose the last transactions when the process is killed: for stores that end with the process. */
  readonly isEphemeral: boolean;
  readonly idleHoldMs: number;
}

export type MessageToThread =
  | { readonly kind: 'connect'; readonly port: MessagePort }
  | { readonly kind: 'close' };

/** `freshSchemaVersion`: newest migration of a cluster that was made just now. */
export type MessageFromThread =
  | { readonly kind: 'ready'; readonly freshSchemaVersion: string | undefined }
  | { readonly kind: 'closed' }
  | { readonly kind: 'failed'; readonly reason: string };
