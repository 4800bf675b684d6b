/** Zone sets, workloads, and the files that servers and load generators read them from. */
export { EXIT_STATUS, type Problem } from '@dinodns-bench/program';
export * from './data.ts';
export type { Encryption, Format, RenderedFile, RenderOptions } from './formats/format.ts';
export * from './formats/index.ts';
export * from './query-file.ts';
export * from './workload.ts';
export * from './write-files.ts';
