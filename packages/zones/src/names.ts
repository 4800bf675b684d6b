/**
 * Domain names as text: lower case, without a trailing dot, `.` for the root.
 */

import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import type { Problem } from '@dinodns-bench/program';
import { MAX_LABEL_BYTES, MAX_NAME_BYTES } from '@dinodns-bench/wire';

/** Lower case, without the trailing dot (except for the root). */
export function normalizeName(name: string): string {
  const lower = name.toLowerCase();
  return lower.length > 1 && lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

/** Bytes of the name in a DNS message without compression. */
export function wireLength(name: string): number {
  return name === '.' ? 1 : name.length + 2;
}

/**
 * What is wrong with a name, if anything: label and name lengths (RFC 1035) and characters. Only letters,
 * digits and hyphens (RFC 1123 §2.1), and the underscore of service names (RFC 8552), are accepted by every
 * server and file format without escapes.
 */
export function nameProblem(name: string, what: string): Problem | undefined {
  if (name === '.') return undefined;
  const allowed = 'use letters, digits, hyphens and underscores, in labels separated by single dots';
  for (const label of name.split('.')) {
    if (label === '') return { problem: `${what} "${name}" has an empty label`, fix: allowed };
    const characterProblem = labelProblem(label, name, what, allowed);
    if (characterProblem !== undefined) return characterProblem;
    if (label.length > MAX_LABEL_BYTES) {
      return {
        problem: `${what} "${name}" has a label of ${label.length} bytes: "${label}"`,
        fix: `shorten the label to at most ${MAX_LABEL_BYTES} bytes`,
      };
    }
  }
  const length = wireLength(name);
  if (length > MAX_NAME_BYTES) {
    return {
      problem: `${what} "${name}" takes ${length} bytes in a DNS message`,
      fix: `shorten it by ${length - MAX_NAME_BYTES}: a name has at most ${MAX_NAME_BYTES} bytes`,
    };
  }
  return undefined;
}

function labelProblem(label: string, name: string, what: string, allowed: string): Problem | undefined {
  const bad = /[^a-z0-9_-]/i.exec(label)?.[0];
  if (bad !== undefined) {
    const ascii = /[^\x20-\x7e]/.test(label) ? domainToASCII(label) : '';
    const fix = ascii === '' ? allowed : `write "${label}" as "${ascii}" (its ASCII form, RFC 5890)`;
    return {
      problem: `${what} "${name}" has the character ${bad === '\\' ? '"\\"' : JSON.stringify(bad)}`,
      fix,
    };
  }
  if (label.startsWith('-') || label.endsWith('-')) {
    return {
      problem: `${what} "${name}" has a label that begins or ends with a hyphen: "${label}"`,
      fix: 'put hyphens only between other characters (RFC 1123)',
    };
  }
  return undefined;
}

/** Stands for the name of the zone in the data of a record: `mail.{zone}`. */
export const ZONE_PLACEHOLDER = '{zone}';

/** The absolute name of a target in `zone`: only the placeholder at the end is replaced. */
export function resolveTarget(target: string, zone: string): string {
  return target.endsWith(ZONE_PLACEHOLDER) ? target.slice(0, -ZONE_PLACEHOLDER.length) + zone : target;
}

/** The owner in the zone (`@` for its apex) that a target stands for; undefined for a target outside the zone. */
export function ownerOfTarget(target: string): string | undefined {
  if (target === ZONE_PLACEHOLDER) return '@';
  const below = `.${ZONE_PLACEHOLDER}`;
  return target.endsWith(below) ? target.slice(0, -below.length) : undefined;
}

/** What is wrong with a target as written by a user, if anything. */
export function targetProblem(target: string): Problem | undefined {
  const example = `write a full name ("mail.example.net") or one in the zone itself ("mail.${ZONE_PLACEHOLDER}")`;
  if (isIP(target) !== 0) {
    return { problem: `the target "${target}" is an address, where a name is needed`, fix: example };
  }
  if (target === ZONE_PLACEHOLDER || target === '.') return undefined;
  const owner = ownerOfTarget(target);
  if (owner !== undefined) return nameProblem(owner, 'the target');
  if (!target.includes('.')) {
    return {
      problem: `the target "${target}" is a single label`,
      fix:
        target === ''
          ? example
          : `write "${target}.${ZONE_PLACEHOLDER}" if it is in the zone, or the full name`,
    };
  }
  return nameProblem(target, 'the target');
}
