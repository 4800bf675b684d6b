/** This project's load generator, in its own process; its CPU is counted like dnsperf's. */

import { fileURLToPath } from 'node:url';
import { cannonVersion } from '@dinodns-bench/load';
import type { Loader } from '../loader.ts';
import { createLocalLoader, type LocalLoaderOptions } from '../local-loader.ts';
import { driverArguments, driverOptions, GENERATOR_NODE_FLAGS } from './options.ts';
import { BUILTIN } from './result.ts';

/** A loader that runs this project's load generator on this machine. */
export function createBuiltin(options: LocalLoaderOptions): Loader {
  const { fs, processes } = options.world;
  return createLocalLoader(options, {
    ...BUILTIN,
    ...{ version: cannonVersion(), executable: processes.nodePath },
    // The Node.js that runs bench, which bench cannot install.
    fix: 'Run `bench doctor`.',
    async command(request) {
      const { json, fits } = driverOptions(request);
      // Options that do not fit in an argument lie beside the raw output.
      const path = `${request.outputFile}.options.json`;
      if (!fits) await fs.writeFile(path, json);
      const program = [processes.nodePath, ...GENERATOR_NODE_FLAGS, driverScript()];
      return [...program, ...driverArguments(fits ? json : `@${path}`, request)];
    },
  });
}

/** In the workspace the sources run; from npm, what was built from them. */
function driverScript(): string {
  return fileURLToPath(import.meta.resolve('@dinodns-bench/load/driver'));
}
