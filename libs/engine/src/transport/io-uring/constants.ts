/** Numbers of the io_uring interface, the same on all processors. Source: the kernel's uapi/linux/io_uring.h. */

export const SYS_IO_URING_SETUP = 425;
export const SYS_IO_URING_ENTER = 426;
export const SYS_IO_URING_REGISTER = 427;

export const IORING_SETUP_CQSIZE = 1 << 3;
export const IORING_SETUP_SUBMIT_ALL = 1 << 7;
export const IORING_SETUP_SINGLE_ISSUER = 1 << 12;
/** Linux 6.1; with it everything else used here is there. */
export const IORING_SETUP_DEFER_TASKRUN = 1 << 13;

export const IORING_OFF_SQES = 0x1000_0000;
export const IORING_REGISTER_PBUF_RING = 22;

export const IORING_ENTER_GETEVENTS = 1 << 0;
export const IORING_ENTER_EXT_ARG = 1 << 3;

export const IORING_OP_TIMEOUT = 11;
export const IORING_OP_ASYNC_CANCEL = 14;
export const IORING_OP_CONNECT = 16;
export const IORING_OP_CLOSE = 19;
export const IORING_OP_SEND = 26;
export const IORING_OP_RECV = 27;

export const IOSQE_BUFFER_SELECT = 1 << 5;
export const IOSQE_CQE_SKIP_SUCCESS = 1 << 6;

export const IORING_RECV_MULTISHOT = 1 << 1;
export const IORING_ASYNC_CANCEL_ALL = 1 << 0;
export const IORING_ASYNC_CANCEL_FD = 1 << 1;

export const IORING_CQE_F_BUFFER = 1 << 0;
export const IORING_CQE_F_MORE = 1 << 1;

export const PROT_READ_WRITE = 3;
export const MAP_SHARED_POPULATE = 0x8001;
