/**
 * How an authoritative server answers from its zones (RFC 1034, section 4.3.2, RFC 2308, RFC 4592, RFC 6604,
 * RFC 8482). A zone begins at a name that has an SOA record and ends where a name below has NS records.
 */
import type { SupportedAnswer, SupportedRecordType } from 'dinodns/types/dns.js';
import { RCODE } from '../wire/codes.ts';
import { canonicalName } from '../wire/names.ts';
import type { Found } from './answer.ts';
import type { NameNode, NameTree } from './names-tree.ts';

/** CNAMEs followed for one question. Longer chains, and loops, end in what was found until then. */
const MAX_CHAIN = 8;

export interface Position {
  readonly apex: NameNode | undefined;
  /** The topmost delegation at or above the name, below the apex. */
  readonly cut: NameNode | undefined;
}

/** The zone a name is in. */
export function position(node: NameNode): Position {
  let cut: NameNode | undefined;
  for (let current: NameNode | undefined = node; current !== undefined; current = current.parent) {
    if (current.has('SOA')) return { apex: current, cut };
    if (current.has('NS')) cut = current;
  }
  return { apex: undefined, cut: undefined };
}

/** The SOA record of a negative answer, with the time it may be kept (RFC 2308, section 3). */
function negativeAuthority(apex: NameNode | undefined): SupportedAnswer[] {
  const soa = apex?.records?.get('SOA')?.[0];
  if (soa === undefined || soa.type !== 'SOA') return [];
  return [{ ...soa, ttl: Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0) }];
}

export function nameError(encloser: NameNode): Found {
  const authorities = negativeAuthority(position(encloser).apex);
  return { rcode: RCODE.NXDOMAIN, authoritative: true, answers: [], authorities, additionals: [] };
}

function noData(apex: NameNode | undefined): Found {
  const authorities = negativeAuthority(apex);
  return { rcode: RCODE.NOERROR, authoritative: true, answers: [], authorities, additionals: [] };
}

function positive(answers: SupportedAnswer[]): Found {
  return { rcode: RCODE.NOERROR, authoritative: true, answers, authorities: [], additionals: [] };
}

/** Name servers of the zone below, and those of their addresses that lie below the cut too. */
export function referral(tree: NameTree, cut: NameNode): Found {
  const authorities = cut.records?.get('NS') ?? [];
  const additionals: SupportedAnswer[] = [];
  for (const record of authorities) {
    if (record.type !== 'NS') continue;
    const glue = tree.get(canonicalName(record.data))?.records;
    additionals.push(...(glue?.get('A') ?? []), ...(glue?.get('AAAA') ?? []));
  }
  return {
    rcode: RCODE.NOERROR,
    authoritative: false,
    answers: [],
    authorities: [...authorities],
    additionals,
  };
}

/** What is at an existing name; null if the name is in none of our zones and has no records. */
export function resolveAt(tree: NameTree, node: NameNode, type: string, depth = 0): Found | null {
  const { apex, cut } = position(node);
  // DS belongs to the zone above the cut (RFC 4035, section 3.1.4.1).
  if (cut !== undefined && !(cut === node && type === 'DS')) return referral(tree, cut);
  const { records } = node;
  if (records === undefined || records.size === 0) return apex === undefined ? null : noData(apex);
  if (type === 'ANY') return positive([...([...records.values()][0] ?? [])]);
  const exact = records.get(type as SupportedRecordType);
  if (exact !== undefined) return positive([...exact]);
  const alias = records.get('CNAME')?.[0];
  if (alias?.type === 'CNAME') return followAlias(tree, alias, alias.data, type, depth);
  return noData(apex);
}

function followAlias(
  tree: NameTree,
  alias: SupportedAnswer,
  target: string,
  type: string,
  depth: number,
): Found {
  const rest = depth < MAX_CHAIN ? resolve(tree, canonicalName(target), type, depth + 1) : null;
  if (rest === null) return positive([alias]);
  // The code is that of the chain's end, the authority that of its beginning (RFC 6604, section 2.1).
  return { ...rest, authoritative: true, answers: [alias, ...rest.answers] };
}

/** What is to be said about any name; null if it is in none of our zones. */
function resolve(tree: NameTree, key: string, type: string, depth: number): Found | null {
  const node = tree.get(key);
  if (node !== undefined) return resolveAt(tree, node, type, depth);
  const encloser = tree.closestEncloser(key);
  if (encloser === undefined) return null;
  const { apex, cut } = position(encloser);
  if (apex === undefined) return null;
  if (cut !== undefined) return referral(tree, cut);
  const wildcard = tree.get(wildcardBelow(encloser));
  if (wildcard === undefined) return nameError(encloser);
  const found = resolveAt(tree, wildcard, type, depth);
  if (found === null) return null;
  const rename = (record: SupportedAnswer) =>
    canonicalName(record.name) === wildcard.key ? { ...record, name: key } : record;
  return { ...found, answers: found.answers.map(rename) };
}

/** Canonical name of the wildcard right below a name. */
export function wildcardBelow(encloser: NameNode): string {
  return encloser.key === '' ? '*' : `*.${encloser.key}`;
}
