/** Public API of `@dinodns-bench/server-cluster`. */
export { EXIT_STATUS } from '@dinodns-bench/program';
export { type UsableCpus, usableCpus } from './cpus/usable-cpus.ts';
export { createServer, type Ready, type Server, STOP_SECONDS } from './create-server.ts';
export { ERROR_CODES, type ErrorCode, ServerError } from './errors.ts';
export { type AcceleratedServer, type AccelerateOptions, accelerate } from './framework/accelerate.ts';
export { type ObserveOptions, observe } from './framework/observe.ts';
export { CaseInsensitiveRouter } from './framework/router.ts';
export type { Log, LogLevel } from './log/log.ts';
export {
  BatchedUdpNetwork,
  type BatchedUdpOptions,
  RECEIVE_BUFFER_BYTES,
  type UdpBackend,
} from './network/batched-udp.ts';
export { HttpsNetwork, type HttpsNetworkOptions } from './network/https.ts';
export { RobustTcpNetwork, type TcpNetworkOptions } from './network/tcp.ts';
export {
  DEFAULT_IDLE_SECONDS,
  DEFAULT_MAX_CONNECTIONS,
  DEFAULT_MAX_CONNECTIONS_PER_CLIENT,
  type TcpLimits,
} from './network/tcp-limits.ts';
export { type CertificateFiles, readCredentials, type TlsCredentials } from './network/tls-credentials.ts';
export type { ServerOptions, ZoneLoader, ZoneSource } from './options.ts';
export { buildTable, type LoadOptions, loadStore, loadZoneFile } from './store/load.ts';
export type { ZoneInput } from './store/zone-input.ts';
export { ZoneStore } from './store/zone-store.ts';
export { ZonesFile } from './store/zones-file.ts';
export { type AnswerTableOptions, createAnswerTable } from './table/answer-table.ts';
export { DROP, type Responder, TO_FRAMEWORK, type Transport } from './table/responder.ts';
export type { ZoneFileOption } from './zone-files/read-zone.ts';
export type { ZoneFilesOptions } from './zone-files/zone-files.ts';
