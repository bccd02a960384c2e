/** What a user may ask for. `auto`: the fastest that works. */
export const TRANSPORT_WISHES = ['auto', 'io_uring', 'epoll', 'socket'] as const;
export type TransportWish = (typeof TRANSPORT_WISHES)[number];
