/**
 * CoreDNS with the `template` plugin: the published setup. Each zone has a server block, so that a name outside all
 * zones is REFUSED.
 */

import { ZONE_PLACEHOLDER } from '../names.ts';
import { parsePattern } from '../pattern.ts';
import type { Plan, PlannedRecord } from '../plan.ts';
import { absolute, dataText } from '../presentation.ts';
import { answerOf } from '../zone-set.ts';
import { corednsBlock, corednsHead } from './coredns.ts';
import { defineFormat, ENCRYPTED_TRANSPORTS, WITHOUT_DNAME } from './format.ts';

/** Owners per regular expression: CoreDNS accepts at most 10,000 characters, and a name has up to 255. */
const OWNERS_PER_MATCH = 35;

/** A name in a template's answer: `{{ .Zone }}` ends in a dot. */
function templateName(target: string): string {
  return target.endsWith(ZONE_PLACEHOLDER)
    ? `${target.slice(0, -ZONE_PLACEHOLDER.length)}{{ .Zone }}`
    : absolute(target);
}

function recordText(owner: string, record: PlannedRecord, ttl = record.ttl): string {
  return `${owner} ${ttl} IN ${record.type} ${dataText(record, templateName)}`;
}

/** Corefile quoting: only quotes are escaped (`presentation.ts` writes no backslash before a quote). */
function argument(text: string): string {
  return `"${text.replaceAll('"', '\\"')}"`;
}

/**
 * Regular expressions for names in a zone. CoreDNS has already matched the zone when it looks at them, and all
 * zones have the same number of labels, so the same expressions serve every zone.
 */
function matches(owners: readonly string[], zoneLabels: number): string[] {
  const zone = `(?:[.][^.]+){${zoneLabels}}[.]$`;
  const below = owners.filter((owner) => owner !== '@').map((owner) => owner.replaceAll('.', '[.]'));
  const expressions = owners.includes('@') ? [`^[^.]+(?:[.][^.]+){${zoneLabels - 1}}[.]$`] : [];
  for (let start = 0; start < below.length; start += OWNERS_PER_MATCH) {
    const some = below.slice(start, start + OWNERS_PER_MATCH);
    expressions.push(`^${some.length === 1 ? some[0] : `(?:${some.join('|')})`}${zone}`);
  }
  return expressions;
}

/** One `template` directive. */
interface Template {
  readonly type: string;
  /** The names it applies to; undefined for all. */
  readonly owners: readonly string[] | undefined;
  readonly lines: readonly string[];
}

function templateText({ type, owners, lines }: Template, zoneLabels: number): string {
  const match =
    owners === undefined
      ? []
      : [`match ${matches(owners, zoneLabels).map(argument).join(' ')}`, 'fallthrough'];
  const body = [...match, ...lines].map((line) => `    ${line}\n`).join('');
  return `  template ${type === 'ANY' ? 'ANY' : 'IN'} ${type} {\n${body}  }\n`;
}

/** Templates for the records; names with the same answer share one. */
function answerTemplates(plan: Plan, withMatch: boolean): Template[] {
  const templates = new Map<string, { type: string; owners: string[]; lines: string[] }>();
  const add = (owner: string, type: string, lines: string[]) => {
    const key = [type, ...lines].join('\n');
    const template = templates.get(key);
    if (template === undefined) templates.set(key, { type, owners: [owner], lines });
    else template.owners.push(owner);
  };
  for (const [owner, types] of plan.owners) {
    for (const [type, records] of types) {
      if (type === 'CNAME')
        for (const cname of cnameTemplates(plan, owner)) add(owner, cname.type, cname.lines);
      else
        add(
          owner,
          type,
          records.map((record) => answer(owner, record, owner)),
        );
    }
  }
  return [...templates.values()].map((template) =>
    withMatch ? template : { ...template, owners: undefined },
  );
}

/** The query name is echoed as `{{ .Name }}`; records after a CNAME have their own. */
function answer(asked: string, record: PlannedRecord, owner: string): string {
  const name =
    asked === owner ? '{{ .Name }}' : templateName(`${owner}.${ZONE_PLACEHOLDER}`.replace(/^@\./, ''));
  return `answer ${argument(recordText(name, record))}`;
}

/**
 * A CNAME answers every type. For A and AAAA the plugin itself asks the server for the target, so the target's
 * records must not be repeated here; for other types the template holds the rest of the chain and its final records.
 */
function cnameTemplates(plan: Plan, owner: string): { type: string; lines: string[] }[] {
  const linesFor = (records: readonly PlannedRecord[]) =>
    records.map((record) => answer(owner, record, record.name));
  const cnames = answerOf(plan, owner, 'none');
  const types = new Set(plan.records.map(({ type }) => type));
  const chained = [...types]
    .filter((type) => !['A', 'AAAA', 'CNAME'].includes(type))
    .map((type) => ({ type, records: answerOf(plan, owner, type) }))
    .filter(({ records }) => records.length > cnames.length);
  const first = linesFor(cnames.slice(0, 1));
  return [
    ...(cnames.length > 1 ? ['A', 'AAAA', 'CNAME'].map((type) => ({ type, lines: first })) : []),
    ...chained.map(({ type, records }) => ({ type, lines: linesFor(records) })),
    { type: 'ANY', lines: linesFor(cnames) },
  ];
}

/** The templates after those for records: an empty answer for names that exist, NXDOMAIN for others. */
function negativeTemplates(plan: Plan, withMatch: boolean): Template[] {
  const { soa } = plan;
  // RFC 2308 §3: the SOA's TTL in a negative answer is at most its `minimum`.
  const authority = `authority ${argument(recordText('{{ .Zone }}', soa, Math.min(soa.ttl, soa.data.minimum)))}`;
  const noData = ['rcode NOERROR', authority];
  if (!withMatch) return [{ type: 'ANY', owners: undefined, lines: noData }];
  return [
    { type: 'ANY', owners: [...plan.owners.keys()], lines: noData },
    { type: 'ANY', owners: undefined, lines: ['rcode NXDOMAIN', authority] },
  ];
}

/** Where a template goes: records into the zone's block; SOA, NS and the templates for any type after them. */
const isRecord = ({ type }: Template) => type !== 'SOA' && type !== 'NS' && type !== 'ANY';
const isAuthority = ({ type }: Template) => type === 'SOA' || type === 'NS';
const isForAnyType = ({ type }: Template) => type === 'ANY';

export const corefile = defineFormat({
  name: 'corefile',
  title: 'CoreDNS, template plugin',
  description: 'Corefile with a server block and templates for each zone: the published setup',
  files: ['Corefile'],
  recordTypes: WITHOUT_DNAME,
  encrypts: ENCRYPTED_TRANSPORTS,
  render(context) {
    const { zoneSet, plan, settings } = context;
    const { labels } = parsePattern(zoneSet.spec.pattern);
    const withMatch = settings.coredns.match || !plan.apexOnly;
    const templates = answerTemplates(plan, withMatch);
    const text = (some: readonly Template[]) =>
      some.map((template) => templateText(template, labels)).join('');
    const shared = [
      ...templates.filter(isAuthority),
      ...templates.filter(isForAnyType),
      ...negativeTemplates(plan, withMatch),
    ];
    const own = text(templates.filter(isRecord));
    const head = `${corednsHead(context)}# The same for every zone: SOA and NS records, and answers without records.\n(authority) {\n${text(shared)}}\n\n`;
    const block = `${own}  import authority\n`;
    return [context.eachZone(({ name }) => corednsBlock(name, settings, block), { head })];
  },
});
