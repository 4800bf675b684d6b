/** What was measured before the first trial, and what was chosen, in sentences. Pure. */

import type { Calibration, CalibrationProbe, RunRecord } from '../results/record.ts';
import { listed } from '../text.ts';
import { serverTitle } from './cases.ts';
import { formatCpus, formatFixed, formatQps } from './numbers.ts';

/** `dnsperf`, `the built-in loader`. */
function loaderName(kind: string): string {
  return kind === 'builtin' ? 'the built-in load generator' : kind;
}

/** At the beginning of a sentence; the name of a program stays as it is. */
function capitalized(text: string): string {
  return text.replace(/^the /, 'The ');
}

/** The last probe of each server with a loader, of those that the server did not limit. */
function openProbes({ probes }: Calibration, loader: string): CalibrationProbe[] {
  const last = new Map(probes.filter((item) => item.loader === loader).map((item) => [item.server, item]));
  return [...last.values()].filter(({ limitedBy }) => limitedBy !== 'server');
}

function ceilings({ generators }: Calibration): string {
  const known = generators.flatMap(({ loader, qps }) =>
    qps === null ? [] : [`${loaderName(loader)} ${formatQps(qps)}`],
  );
  return known.length === 0 ? '' : ` (against an echo: ${known.join(', ')} queries per second)`;
}

function serversOf(record: RunRecord, probes: readonly CalibrationProbe[]): string {
  return listed(
    probes.map(({ server, serverCores }) =>
      serverCores === null
        ? serverTitle(record, server)
        : `${serverTitle(record, server)} (${formatFixed(serverCores, 2)} cores used before the trials)`,
    ),
  );
}

/** The sentences; none where nothing was measured before the trials. */
export function calibrationNotes(record: RunRecord): string[] {
  const { calibration } = record;
  if (calibration === null) return [];
  const [preferred] = calibration.generators;
  const chosen = loaderName(calibration.loader);
  const limits = ceilings(calibration);
  if (calibration.quotaShare < 1) {
    const tiers = [...new Set(record.cases.map(({ tier }) => formatCpus(tier)))];
    const to = tiers.length === 0 ? '' : `, to ${listed(tiers)}`;
    return [
      `All tiers were lowered to ${formatFixed(calibration.quotaShare * 100, 0)} % of what was asked for${to}: so ${chosen} saturates every server${limits}.`,
    ];
  }
  if (preferred !== undefined && preferred.loader !== calibration.loader) {
    return [
      `${capitalized(loaderName(preferred.loader))} could not saturate ${serversOf(record, openProbes(calibration, preferred.loader))}; ${chosen} could and sends the load of all servers${limits}. ` +
        `Do not compare its figures with those of ${preferred.loader}; --loader ${preferred.loader} keeps it.`,
    ];
  }
  if (calibration.saturated) return [`${capitalized(chosen)} saturates every server${limits}.`];
  const open = openProbes(calibration, calibration.loader);
  return [
    `${unableOf(calibration)} saturate every server on this machine${limits}. With ${chosen}, ` +
      `${serversOf(record, open)} did not reach the CPU limit: ${open.length === 1 ? 'its' : 'their'} throughput is a ` +
      'lower bound, and CPU per query is compared. --saturate lowers the tiers of all servers until they are the limit.',
  ];
}

/** "Neither dnsperf nor the built-in load generator could", "dnsperf could not". */
function unableOf({ generators, loader }: Calibration): string {
  const others = generators.slice(1).map((generator) => loaderName(generator.loader));
  const chosen = loaderName(loader);
  return others.length === 0
    ? `${capitalized(chosen)} could not`
    : `Neither ${[chosen, ...others].join(' nor ')} could`;
}
