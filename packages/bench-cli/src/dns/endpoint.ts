/** Where a DNS server can be asked. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** Instances that a load balancer shares its flows among; default 1. */
  readonly instances?: number;
  /** How its certificate is verified; only where it answers over TLS or HTTPS. */
  readonly trust?: Trust;
}

/** Whom a client of an encrypted transport trusts. */
export interface Trust {
  /** The name that the certificate must have. */
  readonly serverName: string;
  /** The authority that must have issued it (PEM). */
  readonly authority: string;
  /** The same as a file, where the loaders run. */
  readonly authorityFile: string;
}
