import type { Socket } from 'node:net';

/** Descriptor of a socket that Node has opened. Node shows it on its inner handle only; -1 where it does not. */
export function descriptorOf(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null || !('fd' in handle)) return -1;
  return typeof handle.fd === 'number' ? handle.fd : -1;
}
