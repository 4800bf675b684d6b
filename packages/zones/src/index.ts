/** Zone sets, workloads, and the files that servers and load generators read them from. */
export { EXIT_STATUS, type Problem } from '@dinodns-bench/program';
export * from './data.ts';
export type { Encryption, Format, RenderedFile, RenderOptions } from './formats/format.ts';
export { findFormat, formats } from './formats/index.ts';
export {
  defineWorkload,
  type Query,
  renderQueryFile,
  type Workload,
  type WorkloadInput,
  type WorkloadSpec,
  workloadFor,
} from './workload.ts';
export { type WriteOptions, type WrittenFile, writeFiles } from './write-files.ts';
