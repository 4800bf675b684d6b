/** dnsmasq, answering from its configuration alone. */
import type { Problem } from '@dinodns-bench/program';
import { encodeName, encodePart, partsOf, TYPE } from '@dinodns-bench/wire';
import { ownerOfTarget, resolveTarget, ZONE_PLACEHOLDER } from '../names.ts';
import { nameOf, numberRange, parsePattern } from '../pattern.ts';
import { ownerName, type Plan, type PlannedRecord } from '../plan.ts';
import type { RecordType } from '../records.ts';
import type { ZoneSet } from '../zone-set.ts';
import { labelsHex, type ZoneReference } from '../zone-text.ts';
import { defineFormat, WITHOUT_DNAME } from './format.ts';

/** Types that make a name exist in dnsmasq. For a name without any of them, it answers NXDOMAIN. */
const KNOWN_BY: readonly RecordType[] = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV'];

/**
 * dnsmasq 2.90 reads lines with `fgets` (`read_file` in its option.c) into `MAXDNAME` bytes, which are 1,025 with the zero at the end
 * (dns-protocol.h). What a line has beyond that is a line of its own, and no option: dnsmasq does not start.
 */
const MAX_LINE_BYTES = 1024;

/** The zone with the longest name: that with the largest number. */
function longestZone({ spec: { pattern, from, to, parity } }: ZoneSet): ZoneReference {
  const name = nameOf(parsePattern(pattern), numberRange(from, to, parity)?.last ?? to);
  return { name, hex: labelsHex(name) };
}

function lineProblem(record: PlannedRecord, zone: ZoneReference): Problem[] {
  // Names and texts are ASCII.
  const bytes = recordLine(record, zone).length;
  if (bytes <= MAX_LINE_BYTES) return [];
  const problem = `its line has ${bytes} bytes for ${zone.name}, of which dnsmasq reads ${MAX_LINE_BYTES}`;
  return [
    {
      problem: `the format dnsmasq cannot hold the ${record.type} record at ${record.name}: ${problem}`,
      fix: 'shorten its name or its data, or use another format',
    },
  ];
}

/** dnsmasq has one TTL for all answers from its configuration. */
function unsupported({ records, owners }: Plan, zoneSet: ZoneSet): Problem[] {
  const longest = longestZone(zoneSet);
  const ttls = [...new Set(records.map(({ ttl }) => ttl))];
  const outside = records.filter(
    (record) => record.type === 'CNAME' && ownerOfTarget(record.data) === undefined,
  );
  const unknown = [...owners].filter(
    ([, types]) => types.size > 0 && !KNOWN_BY.some((type) => types.has(type)),
  );
  return [
    ...unknown.map(([name, types]) => ({
      problem: `the format dnsmasq cannot hold ${name} with ${[...types.keys()].join(', ')} alone: it would deny that the name exists`,
      fix: `add a record of type ${KNOWN_BY.join(', ')} to it`,
    })),
    ...(ttls.length > 1
      ? [
          {
            problem: `the format dnsmasq holds one TTL, not ${ttls.join(', ')}`,
            fix: 'give all records the same TTL',
          },
        ]
      : []),
    ...outside.map(({ name, data }) => ({
      problem: `the format dnsmasq cannot hold the CNAME at ${name} to ${String(data)}: it only follows CNAMEs to names that it has addresses for`,
      fix: 'point it at a name in the zone ("www.{zone}")',
    })),
    ...records.flatMap((record) => lineProblem(record, longest)),
  ];
}

function nameHex(target: string, zone: ZoneReference): string {
  return target.endsWith(ZONE_PLACEHOLDER)
    ? `${labelsHex(target.slice(0, -ZONE_PLACEHOLDER.length).replace(/\.$/, ''))}${zone.hex}00`
    : encodeName(target).toString('hex');
}

/** `dns-rr`: any type, with hexadecimal data. */
function genericRecord(owner: string, { type, data }: PlannedRecord, zone: ZoneReference): string {
  const hex = partsOf(type, data).map((part) =>
    part.kind === 'name' ? nameHex(String(part.value), zone) : Buffer.from(encodePart(part)).toString('hex'),
  );
  return `dns-rr=${owner},${TYPE[type]},${hex.join('')}`;
}

/** dnsmasq's quoting: only quotes and backslashes are special within quotes. */
function quotedText(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function recordLine(record: PlannedRecord, zone: ZoneReference): string {
  const owner = ownerName(record.name, zone.name);
  const name = (target: string) => resolveTarget(target, zone.name);
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return `host-record=${owner},${record.data}`;
    case 'CNAME':
      return `cname=${owner},${name(record.data)}`;
    case 'MX':
      return record.data.exchange === '.'
        ? genericRecord(owner, record, zone)
        : `mx-host=${owner},${name(record.data.exchange)},${record.data.preference}`;
    case 'SRV': {
      const { priority, weight, port, target } = record.data;
      return target === '.'
        ? `srv-host=${owner}`
        : `srv-host=${owner},${name(target)},${port},${priority},${weight}`;
    }
    case 'TXT':
      return `txt-record=${owner},${record.data.map(quotedText).join(',')}`;
    default:
      return genericRecord(owner, record, zone);
  }
}

export const dnsmasq = defineFormat({
  name: 'dnsmasq',
  title: 'dnsmasq',
  description: 'dnsmasq.conf that answers for the zones and refuses everything else',
  files: ['dnsmasq.conf'],
  recordTypes: WITHOUT_DNAME,
  unsupported,
  render({ plan, settings, heading, eachZone }) {
    const { address, port } = settings;
    const head = `# ${heading}
# Start: dnsmasq --keep-in-foreground --conf-file=dnsmasq.conf
port=${port}
listen-address=${address}
bind-interfaces
pid-file=
# Runs as the user who starts it; without these lines, one that root starts changes its user.
user=root
group=root
# Answers only from this file: no upstream servers, no other files.
no-resolv
no-hosts
no-poll
local-ttl=${plan.soa.ttl}
`;
    const textOf = (zone: ZoneReference) =>
      `local=/${zone.name}/\n${plan.records.map((record) => `${recordLine(record, zone)}\n`).join('')}`;
    return [eachZone(textOf, { head })];
  },
});
