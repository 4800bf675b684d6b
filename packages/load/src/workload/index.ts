/** What queries there are and in which order, without what sends them: a program that only plans loads a few modules. */
export { LoadError } from '../errors.ts';
export type { WorkloadInput } from './options.ts';
export { candidateNames } from './pod-lookups.ts';
export { parseQueryFile } from './query-file.ts';
export { createRandom, type Random, sfc32 } from './random.ts';
export { cumulate, weightedDraw, zipfWeights } from './weights.ts';
