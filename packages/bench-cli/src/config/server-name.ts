/**
 * How `--servers` names what is compared: a kind with version and variant (`coredns@1.13.1+file`), or a server of the
 * user's own (`at=192.0.2.1:53`, `old=at:192.0.2.1:53`, `my=./server.yaml`). Pure.
 */

export interface ServerName {
  /** A server kind. */
  readonly kind: string;
  /** Null for the default. */
  readonly version: string | null;
  /** Null for the plain kind. */
  readonly variant: string | null;
}

/** Kinds of bench 0.1 that are variants now. */
const FORMER_NAMES: ReadonlyMap<string, string> = new Map([
  ['coredns-multisocket', 'coredns+multisocket'],
  ['coredns-file', 'coredns+file'],
]);

const PARTS = /^(?<kind>[^@+]+)(?:@(?<version>[^@+]+))?(?:\+(?<variant>[^@+]+))?(?:@(?<last>[^@+]+))?$/;

/** Null if `text` is not of this form. The version may also come last; a leading `v` of it is dropped. */
export function parseServerName(text: string): ServerName | null {
  const { kind, version, variant = null, last } = PARTS.exec(FORMER_NAMES.get(text) ?? text)?.groups ?? {};
  if (kind === undefined || (version !== undefined && last !== undefined)) return null;
  return { kind, version: (version ?? last)?.replace(/^v(?=\d)/, '') ?? null, variant };
}

/** The one form in which records and reports have it: the version before the variant. */
export function serverNameText({ kind, version, variant }: ServerName): string {
  return `${kind}${version === null ? '' : `@${version}`}${variant === null ? '' : `+${variant}`}`;
}

/** `text` in that form; unchanged if it is not the name of a server. */
export function canonicalServerName(text: string): string {
  const name = parseOwnServer(text) === null ? parseServerName(text) : null;
  return name === null ? text : serverNameText(name);
}

/** A server that the user brings: one that is already running, or a program that a file describes. */
export interface OwnServer {
  /** What cases and reports call it; null where none was given (`at=…`). */
  readonly name: string | null;
  /** Where it runs, as typed: `192.0.2.1:53`, `[::1]:53/pid=1234`, `kube-system/kube-dns`; or the path of its file. */
  readonly source:
    | { readonly kind: 'at'; readonly text: string }
    | { readonly kind: 'file'; readonly path: string };
}

const RUNNING = 'at';
const OBSERVED = /\/(?:pid|cgroup)=.*$/;

/** Null without `=`: then it is the name of a kind. */
export function parseOwnServer(text: string): OwnServer | null {
  const at = text.indexOf('=');
  if (at < 0) return null;
  const name = text.slice(0, at);
  const rest = text.slice(at + 1);
  if (name === RUNNING) return { name: null, source: { kind: 'at', text: rest } };
  const prefix = `${RUNNING}:`;
  return rest.startsWith(prefix)
    ? { name, source: { kind: 'at', text: rest.slice(prefix.length) } }
    : { name, source: { kind: 'file', path: rest } };
}

/**
 * What cases, filters and records call the server of an entry of `--servers`: `my` for `my=./server.yaml`, and
 * `at=[::1]:53` for `at=[::1]:53/pid=1234`, because the process differs from run to run.
 */
export function caseNameOf(entry: string): string {
  const own = parseOwnServer(entry);
  if (own === null) return canonicalServerName(entry);
  return own.name ?? entry.replace(OBSERVED, '');
}
