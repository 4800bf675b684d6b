/** The reference loader: dnsperf, run as it is, with its raw output kept and its CPU counted. */
import { behindGate } from '../gate/gate.ts';
import type { Loader } from '../loader.ts';
import { createLocalLoader, type LocalLoaderOptions } from '../local-loader.ts';
import { dnsperfArguments } from './command.ts';
import { DNSPERF } from './parse.ts';

export interface DnsperfOptions extends LocalLoaderOptions {
  /** Path of the dnsperf executable. */
  readonly executable: string;
  readonly version: string;
}

/** A loader that runs dnsperf on this machine. */
export function createDnsperf({ executable, version, ...options }: DnsperfOptions): Loader {
  return createLocalLoader(options, {
    ...DNSPERF,
    ...{ executable, version },
    fix: 'Run `bench doctor --fix`.',
    command: async (request) => behindGate(request.gate, [executable, ...dnsperfArguments(request)]),
  });
}
