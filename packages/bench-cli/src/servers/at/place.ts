/** Where a running server is, as `--servers` says it. Pure. */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { AddressServer, ServiceServer } from '../server.ts';

const DNS_PORT = 53;

type Observed = AddressServer['observed'];

/** `/pid=1234` or `/cgroup=/sys/fs/cgroup/x` at the end; the rest is the place. */
const OBSERVED = /^(?<place>.*?)(?:\/(?:pid=(?<pid>.*)|cgroup=(?<cgroup>.*)))?$/;

/** `NAMESPACE/SERVICE`, with a port if it is not 53. */
const SERVICE = /^(?<namespace>[a-z0-9-]+)\/(?<name>[a-z0-9-]+)(?::(?<port>\d+))?$/;

/** `[::1]:53`, `[::1]`, `192.0.2.1:53`, `ns1.example.net`. */
const HOST = /^(?:\[(?<bracketed>[^\]]*)\]|(?<plain>[^:[\]]+))(?::(?<port>\d+))?$/;

/** Letters, digits, hyphens and underscores between dots. */
const HOST_NAME = /^(?!-)[\w-]{1,63}(?:\.[\w-]{1,63})*\.?$/;

const FORMS = 'ADDRESS, ADDRESS:PORT, [IPV6]:PORT, HOST:PORT, or on a cluster NAMESPACE/SERVICE';

/** 53 where none is given; null if it is not a port. */
function portOf(text: string | undefined): number | null {
  const port = Number(text ?? DNS_PORT);
  return port >= 1 && port <= 65_535 ? port : null;
}

function observedOf(pid: string | undefined, cgroup: string | undefined): Observed | string {
  if (pid !== undefined) {
    return /^[1-9]\d*$/.test(pid) ? { pid: Number(pid) } : `pid=${pid} is not the id of a process`;
  }
  if (cgroup === undefined) return null;
  return cgroup.startsWith('/') ? { cgroup } : `cgroup=${cgroup} is not the absolute path of a control group`;
}

function hostOf(place: string): Pick<AddressServer, 'host' | 'port'> | string {
  if (isIPv6(place)) return { host: place, port: DNS_PORT };
  const { bracketed, plain, port: portText } = HOST.exec(place)?.groups ?? {};
  const host = bracketed ?? plain ?? '';
  const port = portOf(portText);
  const known = bracketed === undefined ? isIPv4(host) || HOST_NAME.test(host) : isIPv6(host);
  // `1.2.3` and `300.1.1.1` are mistyped addresses, not names: no top-level domain is a number (RFC 3696).
  if (!known || (isIP(host) === 0 && /(?:^|\.)\d+\.?$/.test(host))) {
    return `"${place}" is neither an address nor a host name; write ${FORMS}`;
  }
  return port === null ? `"${place}": a port is a number from 1 to 65535` : { host, port };
}

/** What `text` names, or what is wrong with it. */
export function parsePlace(text: string): AddressServer | ServiceServer | { readonly problem: string } {
  const { place = '', pid, cgroup } = OBSERVED.exec(text)?.groups ?? {};
  const observed = observedOf(pid, cgroup);
  if (typeof observed === 'string') return { problem: observed };
  const service = SERVICE.exec(place)?.groups;
  if (service?.namespace !== undefined && service.name !== undefined) {
    const port = portOf(service.port);
    if (port === null) return { problem: `"${place}": a port is a number from 1 to 65535` };
    if (observed !== null)
      return { problem: `"${text}": the pods of a Service are observed by themselves; omit pid and cgroup` };
    return { kind: 'service', namespace: service.namespace, name: service.name, port };
  }
  const host = hostOf(place);
  return typeof host === 'string'
    ? { problem: host }
    : { kind: 'address', ...host, address: isIP(host.host) === 0 ? null : host.host, observed };
}

/** `192.0.2.1:53`, `[::1]:53`, `kube-system/kube-dns:53`. */
export function placeText(place: AddressServer | ServiceServer): string {
  if (place.kind === 'service') return `${place.namespace}/${place.name}:${place.port}`;
  return `${isIPv6(place.host) ? `[${place.host}]` : place.host}:${place.port}`;
}
