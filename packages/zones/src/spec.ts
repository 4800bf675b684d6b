/**
 * The specification of a zone set: one zod schema whose defaults are the published set.
 */
import { z } from 'zod';
import { MAX_NUMBER, PARITIES } from './pattern.ts';
import { type ParsedSpec, parseByKey } from './problems.ts';
import { ownerSchema, specRecordSchema, ttlSchema } from './record-schema.ts';

/**
 * The published benchmark does not say which TTL its zones had. Operators commonly use a minute for records
 * that may move, and a resolver in a benchmark, if there is one, soon expires them.
 */
const DEFAULT_TTL = 60;

const numberSchema = z.int().min(0).max(MAX_NUMBER);

export const zoneSetSpecSchema = z.strictObject({
  /** Name of the zones; `{X}` is replaced by the number. Without it, the name of one zone: `from` and `to` are 0 then. */
  pattern: z.string().default('example{X}.com'),
  /** First and last number, both included. */
  from: numberSchema.default(1),
  to: numberSchema.default(200),
  /** Which numbers of the range: the default makes the 100 zones example1.com … example199.com. */
  parity: z.enum(PARITIES).default('odd'),
  /** Seconds; for all records without a TTL of their own, including the default SOA and NS. */
  ttl: ttlSchema.default(DEFAULT_TTL),
  /** Records of every zone, as objects in dns-packet's shape or as lines (`www 300 A 192.0.2.1`). */
  records: z
    .array(specRecordSchema)
    .min(1)
    .readonly()
    .default([{ name: '@', type: 'A', data: '127.0.0.1' }]),
  /** Names below the zone that hold the same A and AAAA records as the zone itself. */
  hosts: z.array(ownerSchema).readonly().default([]),
});

/** A complete specification. */
export type ZoneSetSpec = z.output<typeof zoneSetSpecSchema>;
/** User input: everything is optional, and records may be lines of text. */
export type ZoneSetInput = z.input<typeof zoneSetSpecSchema>;

const numberHelp = `give a whole number from 0 to ${MAX_NUMBER.toLocaleString('en')}`;

/** What is valid, for every key. */
const HELP = {
  pattern: 'give a name with {X} where the number goes, such as "example{X}.com"',
  from: numberHelp,
  to: numberHelp,
  parity: `use one of ${PARITIES.join(', ')}`,
  ttl: 'give seconds from 0 to 2147483647 (RFC 2181)',
  records:
    'give records such as "A 127.0.0.1" or { "type": "MX", "data": { "preference": 10, "exchange": "mail.{zone}" } }',
  hosts: 'give names within the zone, such as "www"',
};

/** Parses a specification; see `parseByKey`. */
export function parseSpec(input: unknown): ParsedSpec<ZoneSetSpec> {
  return parseByKey(zoneSetSpecSchema, input, HELP, { records: 'record', hosts: 'host' });
}
