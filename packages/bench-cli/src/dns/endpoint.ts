/** Where a DNS server can be asked. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** Instances that a load balancer shares its flows among; default 1. */
  readonly instances?: number;
}
