/**
 * The zod schema of one record in a specification: an object in dns-packet's shape, or a line of text
 * (`www 300 A 192.0.2.1`). Checks each record on its own; `check.ts` checks the records together.
 */

import { isIPv4, isIPv6 } from 'node:net';
import type { Problem } from '@dinodns-bench/program';
import { MAX_STRING_BYTES } from '@dinodns-bench/wire';
import { z } from 'zod';
import { nameProblem, normalizeName, ownerOfTarget, targetProblem } from './names.ts';
import { parseRecordText } from './record-text.ts';
import { MAX_TTL } from './zone-file/ttl.ts';

/** A record's data must fit into a DNS message of 65,535 bytes; this leaves room for the rest of the message. */
const MAX_TEXT_BYTES = 65_000;

/** A string in which `find` finds no problem, transformed by `change`. */
function text(find: (value: string) => Problem | undefined, change = (value: string) => value) {
  return z.string().transform((value, context) => {
    const found = find(value);
    if (found === undefined) return change(value);
    context.addIssue({ code: 'custom', message: found.problem, params: { fix: found.fix } });
    return z.NEVER;
  });
}

const u8 = z.int().min(0).max(255);
const u16 = z.int().min(0).max(65_535);
const u32 = z.int().min(0).max(4_294_967_295);
/** Seconds; times have 32 bits in RFC 1035, and RFC 2181 §8 limits TTLs to 31 bits. */
export const ttlSchema = z.int().min(0).max(MAX_TTL);

const ipv4 = text((value) =>
  isIPv4(value)
    ? undefined
    : {
        problem: `"${value}" is not an IPv4 address`,
        fix: isIPv6(value)
          ? 'use type AAAA for an IPv6 address'
          : 'write four numbers from 0 to 255, such as 127.0.0.1',
      },
);

const ipv6 = text(
  (value) =>
    isIPv6(value) && !value.includes('%')
      ? undefined
      : {
          problem: `"${value}" is not an IPv6 address`,
          fix: isIPv4(value)
            ? 'use type A for an IPv4 address'
            : 'write an address such as ::1 or 2001:db8::1, without a zone index',
        },
  // The form of RFC 5952 (except for `::ffff:` addresses), so that equal addresses are equal as text.
  (address) => new URL(`http://[${address}]`).hostname.slice(1, -1),
);

const target = text((value) => targetProblem(normalizeName(value)), normalizeName);

/** SOA names need not be host names, so a single label is allowed. */
const soaName = text((value) => {
  const found = targetProblem(normalizeName(value));
  return found?.problem.endsWith('is a single label') && value !== '' ? undefined : found;
}, normalizeName);

const ALLOWED_TEXT = 'use printable ASCII characters (space to ~); every server and file format takes those';

function textProblem(value: string): Problem | undefined {
  const bad = /[^\x20-\x7e]/u.exec(value)?.[0];
  if (bad !== undefined) {
    return { problem: `the text has the character ${JSON.stringify(bad)}`, fix: ALLOWED_TEXT };
  }
  if (value.length > MAX_TEXT_BYTES) {
    return {
      problem: `the text has ${value.length} bytes`,
      fix: `shorten it to at most ${MAX_TEXT_BYTES}: it must fit into one DNS message`,
    };
  }
  return undefined;
}

/** RFC 1035 §3.3.14 lets a TXT record have several strings; readers join them (RFC 7208 §3.3). */
function splitText(value: string): string[] {
  const parts: string[] = [];
  for (let start = 0; start < value.length; start += MAX_STRING_BYTES) {
    parts.push(value.slice(start, start + MAX_STRING_BYTES));
  }
  return parts.length === 0 ? [''] : parts;
}

const txt = z
  .preprocess(
    (value: string | readonly string[]) => (typeof value === 'string' ? splitText(value) : value),
    z.array(z.string()).min(1),
  )
  .transform((strings, context) => {
    const long = strings.find((part) => part.length > MAX_STRING_BYTES);
    const found =
      long === undefined
        ? textProblem(strings.join(''))
        : {
            problem: `a string of the text has ${long.length} bytes, more than ${MAX_STRING_BYTES}`,
            fix: 'give the text as one string, not a list: it is then split as needed',
          };
    if (found === undefined) return strings;
    context.addIssue({ code: 'custom', message: found.problem, params: { fix: found.fix } });
    return z.NEVER;
  });

const caaTag = text((value) =>
  /^[a-z0-9]{1,255}$/i.test(value)
    ? undefined
    : {
        problem: `the CAA tag "${value}" is not letters and digits`,
        fix: 'use a tag such as issue, issuewild or iodef (RFC 8659)',
      },
);

const caaValue = text(textProblem);

/** The owner relative to the zone; `@` is its apex. `www.{zone}` is the same as `www`. */
export const ownerSchema = text(
  (value) => {
    const name = ownerOf(value);
    if (name === '@') return undefined;
    if (name.endsWith('.')) {
      return {
        problem: `the name "${value}" is absolute`,
        fix: 'give the name within the zone, such as www, or @ for the zone itself',
      };
    }
    if (name.includes('*')) {
      return {
        problem: `the name "${value}" is a wildcard, which some of the servers cannot serve`,
        fix: 'list each host by name: answers must be the same on all servers',
      };
    }
    return nameProblem(name, 'the name');
  },
  (value) => ownerOf(value),
);

function ownerOf(value: string): string {
  const lower = value.toLowerCase();
  return ownerOfTarget(lower) ?? lower;
}

/** The schema of a record whose owner, TTL and targets have these schemas. */
function recordObject<Name extends z.ZodType, Ttl extends z.ZodType, Target extends z.ZodType>(
  name: Name,
  ttl: Ttl,
  host: Target,
  mailbox: Target,
) {
  const common = { name, ttl };
  return z.discriminatedUnion('type', [
    z.strictObject({ ...common, type: z.literal('A'), data: ipv4 }),
    z.strictObject({ ...common, type: z.literal('AAAA'), data: ipv6 }),
    z.strictObject({ ...common, type: z.literal('CNAME'), data: host }),
    z.strictObject({ ...common, type: z.literal('DNAME'), data: host }),
    z.strictObject({ ...common, type: z.literal('NS'), data: host }),
    z.strictObject({
      ...common,
      type: z.literal('MX'),
      /** The exchange `.` means that the name accepts no mail (RFC 7505). */
      data: z.strictObject({ preference: u16, exchange: host }),
    }),
    z.strictObject({ ...common, type: z.literal('TXT'), data: txt }),
    z.strictObject({
      ...common,
      type: z.literal('SRV'),
      /** The target `.` means that the service is not available (RFC 2782). */
      data: z.strictObject({ priority: u16, weight: u16, port: u16, target: host }),
    }),
    z.strictObject({
      ...common,
      type: z.literal('CAA'),
      data: z.strictObject({ flags: u8, tag: caaTag, value: caaValue }),
    }),
    z.strictObject({
      ...common,
      type: z.literal('SOA'),
      data: z.strictObject({
        mname: mailbox,
        rname: mailbox,
        serial: u32,
        refresh: ttlSchema,
        retry: ttlSchema,
        expire: ttlSchema,
        minimum: ttlSchema,
      }),
    }),
  ]);
}

const recordObjectSchema = recordObject(ownerSchema.default('@'), ttlSchema.optional(), target, soaName);

const absoluteName = text((value) => nameProblem(normalizeName(value), 'the name'), normalizeName);

/** A record of a zone: with a TTL and absolute names. */
export const absoluteRecordSchema = recordObject(absoluteName, ttlSchema, absoluteName, absoluteName);

/** `name` is absolute, in lower case, without a trailing dot, as names in the data; `ttl` is in seconds, 0 to 2^31 − 1 (RFC 2181). */
export type ResourceRecord = z.output<typeof absoluteRecordSchema>;

type TypedDataOf<R extends ResourceRecord> = R extends R ? Readonly<Pick<R, 'type' | 'data'>> : never;

/** A record type with its data, as a discriminated union. */
export type TypedData = TypedDataOf<ResourceRecord>;

/** The data of each record type. */
export type RecordData = { [R in TypedData as R['type']]: R['data'] };

/** A record of every zone in the set: `name` is relative to the zone, names in `data` may end in `{zone}`. */
export type SpecRecord = TypedData & { readonly name: string; readonly ttl?: number | undefined };

/** A record as an object, or as a line like that of a zone file. */
export const specRecordSchema = z.preprocess(
  (record: string | z.input<typeof recordObjectSchema>, context) => {
    if (typeof record !== 'string') return record;
    const parsed = parseRecordText(record);
    if (!('problem' in parsed)) return parsed;
    context.addIssue({ code: 'custom', message: parsed.problem, params: { fix: parsed.fix } });
    return z.NEVER;
  },
  recordObjectSchema,
);
