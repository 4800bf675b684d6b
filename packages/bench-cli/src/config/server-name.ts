/** How `--servers` names what is compared: `coredns`, `coredns@1.13.1`, `coredns+file`, `coredns@1.13.1+file`. Pure. */

export interface ServerName {
  /** A server kind. */
  readonly kind: string;
  /** Null for the default. */
  readonly version: string | null;
  /** Null for the plain kind. */
  readonly variant: string | null;
}

/** Kinds of bench 0.1 that are variants now. */
const FORMER_NAMES: Readonly<Record<string, string>> = {
  'coredns-multisocket': 'coredns+multisocket',
  'coredns-file': 'coredns+file',
};

const PARTS = /^(?<kind>[^@+]+)(?:@(?<version>[^@+]+))?(?:\+(?<variant>[^@+]+))?(?:@(?<last>[^@+]+))?$/;

/** Null if `text` is not of this form. The version may also come last; a leading `v` of it is dropped. */
export function parseServerName(text: string): ServerName | null {
  const { kind, version, variant = null, last } = PARTS.exec(FORMER_NAMES[text] ?? text)?.groups ?? {};
  if (kind === undefined || (version !== undefined && last !== undefined)) return null;
  return { kind, version: (version ?? last)?.replace(/^v(?=\d)/, '') ?? null, variant };
}

/** The one form in which records and reports have it: the version before the variant. */
export function serverNameText({ kind, version, variant }: ServerName): string {
  return `${kind}${version === null ? '' : `@${version}`}${variant === null ? '' : `+${variant}`}`;
}

/** `text` in that form; unchanged if it is not the name of a server. */
export function canonicalServerName(text: string): string {
  const name = parseServerName(text);
  return name === null ? text : serverNameText(name);
}
