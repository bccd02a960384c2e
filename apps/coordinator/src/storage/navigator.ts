/**
 * Gives Node 20 the `navigator` that Node has had since version 21. Where there is none, `pg` finds out what it
 * runs on by building an HTTP `Response`, for which Node 20 loads its whole fetch implementation. Must be
 * imported before `pg`.
 */
if (!('navigator' in globalThis)) {
  const userAgent = `Node.js/${process.versions.node.split('.', 1)[0] ?? ''}`;
  Object.defineProperty(globalThis, 'navigator', { value: { userAgent }, configurable: true });
}
