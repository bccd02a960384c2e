import { z } from 'zod';

/** What was negotiated in a TLS handshake. */
export const tlsFactsSchema = z.object({
  /** `TLSv1.3` */
  protocol: z.string().max(32),
  /** OpenSSL's name of the cipher. */
  cipher: z.string().max(128),
  /** Bits of the public key in the target's certificate, and of the cipher; 0: not known. */
  publicKeyBits: z.int().min(0),
  cipherBits: z.int().min(0),
  /** `X25519 253 bits`; absent where the key exchange had none. */
  tempKey: z.string().max(128).optional(),
  /** The name that was sent, where one was. */
  serverName: z.string().max(255).optional(),
  /** Handshakes that were carried out, and how many of them resumed an earlier session. */
  handshakes: z.number().min(0),
  resumed: z.number().min(0),
  /** Sum and longest of the handshakes' durations. */
  handshakeSumUs: z.number().min(0),
  handshakeMaxUs: z.number().min(0),
});
export type TlsFacts = z.infer<typeof tlsFactsSchema>;

/** Why connections failed, in words, where the failure's class does not say it: certificates, proxies. */
export const failureReasonSchema = z.object({ reason: z.string().max(300), count: z.number().min(1) });
export type FailureReason = z.infer<typeof failureReasonSchema>;
