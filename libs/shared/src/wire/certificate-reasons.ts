const UNTRUSTED = 'its certificate is not trusted here; name a file with its authority in BROADSIDE_CA';

/** Why the certificate of a coordinator does not do, by the code of Node's TLS error. */
export const CERTIFICATE_REASONS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is made out to another name',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};
