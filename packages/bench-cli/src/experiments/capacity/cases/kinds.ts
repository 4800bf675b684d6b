/** The measurements that are made of cases: what each may be told, and which cases it has. */
import type { Server } from '../../../servers/server.ts';
import type { BenchWorkload } from '../../../workload/workload.ts';
import { decideSettings } from '../settings.ts';
import { CACHING_HELPERS, cachingCases } from './caching-cases.ts';
import type { CasesResult } from './cases-record.ts';
import type { RunnableCase } from './planned.ts';
import {
  CACHING_SETTINGS,
  type CachingSettings,
  type CommonSettings,
  THROUGHPUT_SETTINGS,
  type ThroughputSettings,
} from './settings.ts';
import { lookupWorkloads, throughputCases } from './throughput-cases.ts';

export interface MadeCases {
  readonly cases: readonly RunnableCase[];
  readonly workloads: readonly BenchWorkload[];
}

export interface CasesKind<Settings extends CommonSettings> {
  readonly what: CasesResult['what'];
  /** Kinds of servers that its cases need beside those of `--servers`. */
  readonly helpers: readonly string[];
  /** @throws BenchError `E_CONFIG` */
  decide(given: Readonly<Record<string, unknown>>): Settings;
  make(
    settings: Settings,
    servers: readonly Server[],
    helpers: readonly Server[],
    programOf: (server: Server) => readonly string[],
  ): Promise<MadeCases>;
}

export const THROUGHPUT: CasesKind<ThroughputSettings> = {
  what: 'throughput',
  helpers: [],
  // Checked by the table.
  decide: (given) =>
    decideSettings(THROUGHPUT_SETTINGS, given, 'bench capacity throughput') as ThroughputSettings,
  make: async (settings, servers) => ({
    cases: await throughputCases(settings, servers),
    workloads: lookupWorkloads(settings.lookups),
  }),
};

export const CACHING: CasesKind<CachingSettings> = {
  what: 'caching',
  helpers: CACHING_HELPERS,
  // Checked by the table.
  decide: (given) => decideSettings(CACHING_SETTINGS, given, 'bench capacity caching') as CachingSettings,
  make: (settings, servers, helpers, programOf) => cachingCases(settings, servers, helpers, programOf),
};
