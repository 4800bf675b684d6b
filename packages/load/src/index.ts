/**
 * dnscannon as a library: `cannon(options)` starts a run.
 *
 * @example
 * const run = cannon({ server: '127.0.0.1:5300', workload: { kind: 'names', names: ['example1.com'] } });
 * for await (const { qps } of run) console.log(qps);
 * const { latencySeconds } = await run.result;
 */
export { EXIT_STATUS, type Problem } from '@dinodns-bench/program';
export type { DriverEvent } from './driver.ts';
export type { Counts } from './engine/measurements.ts';
export type { SocketReport } from './engine/sockets.ts';
export { ERROR_CODES, type ErrorCode, LoadError } from './errors.ts';
export {
  type FindMaxOptions,
  type FindMaxResult,
  type FindMaxTrial,
  findMax,
  type RateAttempt,
  type RateSearch,
  type RateSearchOptions,
  searchMaxRate,
} from './find-max.ts';
export type { GateAddress } from './gate.ts';
export { decodeHistogram, encodeHistogram, mergeEncoded } from './histogram/encoding.ts';
export { renderHgrm } from './histogram/hgrm.ts';
export { Histogram, type HistogramData, lowestAt } from './histogram/histogram.ts';
export { type CannonInput, type CannonOptions, type LoadOptions, optionsSchema } from './options.ts';
export type { Skipped } from './pcap/packet.ts';
export {
  type Capture,
  type CapturedQuery,
  type ReadCaptureOptions,
  readCapture,
  readTcpSegments,
  TCP_FLAG,
  type TcpSegment,
} from './pcap/read-capture.ts';
export type {
  CannonResult,
  EndedBy,
  GeneratorReport,
  Interval,
  LookupReport,
  Rates,
  WorkerReport,
} from './result/result.ts';
export { type Distribution, PERCENTILES, type Statistics, statisticsOf } from './result/statistics.ts';
export { cannon, packageVersion as cannonVersion, type Run, type RunControls } from './run.ts';
export { type Crossed, crossedThresholds, parseThreshold, type Threshold } from './thresholds/thresholds.ts';
export type { WorkloadInput } from './workload/options.ts';
export { candidateNames } from './workload/pod-lookups.ts';
export { parseQueryFile } from './workload/query-file.ts';
export { createRandom, type Random, sfc32 } from './workload/random.ts';
export { cumulate, weightedDraw, zipfWeights } from './workload/weights.ts';
