/** Public surface of `@dinodns-bench/server-cluster`. */
export { type UsableCpus, usableCpus } from './cpus/usable-cpus.ts';
export { createServer, type Ready, type Server, STOP_SECONDS } from './create-server.ts';
export { ERROR_CODES, type ErrorCode, EXIT_STATUS, ServerError } from './errors.ts';
export { CaseInsensitiveRouter } from './framework/router.ts';
export {
  DEFAULT_IDLE_SECONDS,
  DEFAULT_MAX_CONNECTIONS,
  RobustTcpNetwork,
  type TcpNetworkOptions,
} from './network/tcp.ts';
export { RECEIVE_BUFFER_OCTETS, RobustUdpNetwork, type UdpNetworkOptions } from './network/udp.ts';
export type { Mode, ProfileName, ServerOptions, ZoneSource } from './options.ts';
export { DEFAULT_TTL_SECONDS, type ZoneInput, ZoneStore } from './store/zone-store.ts';
