import { describe, expect, it } from 'vitest';
import { misbehavingTargets, unusualTargets } from './all-targets.js';
import { RawClient } from './raw-client.js';

describe('every target', () => {
  it.each([...misbehavingTargets, ...unusualTargets])(
    '%s: starts on a free port and leaves nothing behind',
    async (name, create) => {
      const target = create();
      const { port } = await target.start();
      expect(target.url).toBe(`http://127.0.0.1:${port}`);
      if (name !== 'refuses' && name !== 'resets: at-accept') {
        const client = await RawClient.open(port);
        client.request();
        // Stopping in the middle of an answer must work too, so nothing is waited for here.
        await target.stop();
        client.close();
      } else {
        await target.stop();
      }
      await expect(RawClient.open(port)).rejects.toThrow('ECONNREFUSED');
      expect(target.counters.connectionsOpen).toBe(0);
    },
  );

  it('has its own name', () => {
    const names = [...misbehavingTargets, ...unusualTargets].map(([name]) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
