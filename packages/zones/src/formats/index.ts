/** The registry of formats, in the order in which they are listed. */

import { suggestion } from '@dinodns-bench/program';
import { ZonesError } from '../errors.ts';
import { bind } from './bind.ts';
import { corefile } from './corefile.ts';
import { corefileAuto } from './corefile-auto.ts';
import { corefileFile } from './corefile-file.ts';
import { corefileHosts } from './corefile-hosts.ts';
import { dinodnsCode } from './dinodns-code.ts';
import { dinodnsJson } from './dinodns-json.ts';
import { dinodnsStore } from './dinodns-store.ts';
import { dnsmasq } from './dnsmasq.ts';
import { dnsperf } from './dnsperf.ts';
import type { Format } from './format.ts';
import { hosts } from './hosts.ts';
import { knot } from './knot.ts';
import { nsd } from './nsd.ts';
import { powerdns } from './powerdns.ts';
import { unbound } from './unbound.ts';

export const formats: readonly Format[] = [
  corefile,
  corefileFile,
  corefileAuto,
  corefileHosts,
  nsd,
  knot,
  bind,
  powerdns,
  unbound,
  dnsmasq,
  hosts,
  dinodnsJson,
  dinodnsStore,
  dinodnsCode,
  dnsperf,
];

/** The format of that name. Throws a `ZonesError` (`E_UNKNOWN_FORMAT`) that suggests the nearest name. */
export function findFormat(name: string): Format {
  const format = formats.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  const names = formats.map((candidate) => candidate.name);
  throw new ZonesError('E_UNKNOWN_FORMAT', `unknown format "${name}"`, suggestion(name, names));
}
