import { bodyOf, head } from './reply-bytes.js';
import { type TargetConnection, TargetServer } from './target-server.js';

/** Far below the time between two requests of a slow load, and far above that between two segments of a reply. */
const PAUSE_MS = 20;

/** Sends every reply once more, after a pause, although nobody asked for it. */
export class RepeatingTarget extends TargetServer {
  protected override async onRequest(connection: TargetConnection): Promise<void> {
    const body = bodyOf(100);
    const header = head({ headers: [['Content-Length', String(body.length)]] });
    await connection.reply(header, body);
    setTimeout(() => void connection.send(header, body), PAUSE_MS);
  }
}
