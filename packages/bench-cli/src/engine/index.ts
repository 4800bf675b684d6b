/** What a file outside this repository needs to add an experiment to `bench`: see README.md beside this file. */
export { z } from 'zod';
export { checkDeployment } from '../measure/measured.ts';
export { withServer } from '../measure/trial.ts';
export { defineExperiment } from './command.ts';
export type { Experiment } from './registered.ts';
export { openServers, planServers, serverTrial } from './servers.ts';
export { pick } from './settings.ts';
