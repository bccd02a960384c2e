import { ScriptTarget } from './script-target.js';
import { type TargetAnswer, type TargetScript, targetOrderSchema } from './target-script.js';

// The process of the self-test's target, started by target-process.ts. It takes orders over its channel, and
// ends when its parent is gone.

const IDLE: TargetScript = { delays: { seed: 0, shares: [[1, 0]] }, faults: [] };

function tell(answer: TargetAnswer): void {
  process.send?.(answer);
}

if (process.send === undefined) {
  process.stderr.write('this file is started by `broadside self-test`\n');
  process.exit(2);
}
const target = new ScriptTarget(IDLE);
// Ctrl-C reaches the whole group; the parent decides when the target ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.on('disconnect', () => process.exit(0));
process.on('message', (message) => {
  const order = targetOrderSchema.parse(message);
  if (order.kind === 'tell') {
    tell({ kind: 'record', record: target.record() });
    return;
  }
  target.begin(order.script);
  tell({ kind: 'begun' });
});
target.server.listen(0, '127.0.0.1', () => {
  const address = target.server.address();
  if (address === null || typeof address === 'string') throw new Error('the target has no TCP address');
  tell({ kind: 'listening', port: address.port });
});
