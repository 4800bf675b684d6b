/** `server.yaml`: how to start a server that bench does not know. The schema, and what is wrong with a file. Pure. */
import { nearest } from '@dinodns-bench/program';
import { defineZoneSet, findFormat, formats } from '@dinodns-bench/zones';
import { z } from 'zod';
import { MODES, TRANSPORTS } from '../../results/record.ts';
import { placeholdersIn, unknownPlaceholders } from './placeholders.ts';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const;
const FORMATS = formats.map(({ name }) => name);

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`);
const text = z.string('must be text').min(1, 'must not be empty');
/** An argument may be empty; what is started may not. */
const words = z
  .array(z.string('must be text'), 'must be a list of words: [my-server, --port, "{port}"]')
  .min(1, 'must not be empty')
  .refine(([program]) => program !== '', { path: [0], message: 'must not be empty' });

/** A regular expression with a group around the version. */
const pattern = text.refine((value) => {
  try {
    return new RegExp(`${value}|`).exec('')?.length === 2;
  } catch {
    return false;
  }
}, 'must be a regular expression with one group around the version, for example "(\\\\d[\\\\w.]*)"');

const readySchema = z.union(
  [z.enum(['answer', 'stdout-json']), z.strictObject({ line: text })],
  'must be answer, stdout-json, or {line: "part of a line of its output"}',
);

export const descriptionSchema = z.strictObject({
  title: text.optional().meta({ description: 'Name in tables. Default: the name in --servers.' }),
  command: words.meta({
    description: 'Program and arguments; no shell. A program with a slash is relative to this file.',
  }),
  directory: text.default('.').meta({ description: 'Where the program runs, relative to this file.' }),
  environment: z
    .record(z.string(), z.coerce.string(), 'must be a mapping of names to values')
    .default({})
    .meta({ description: 'Variables in addition to those of bench.' }),
  zones: z
    .strictObject({ format: text }, 'must be {format: NAME}; `dinodns-zones list-formats` names them')
    .optional()
    .meta({ description: 'The zone files that the server reads: a format of dinodns-zones. Default: none.' }),
  files: z
    .record(z.string(), z.string('must be text'), 'must be a mapping of file names to their text')
    .default({})
    .meta({
      description: 'Further files beside the zone files, for example a configuration; may use placeholders.',
    }),
  beside: z.array(words, 'must be a list of commands: [[redis-server, --port, "0"]]').default([]).meta({
    description:
      'Commands of programs that it needs, such as a database: started before it under the same CPU limit, ended with it.',
  }),
  ready: readySchema.default('answer').meta({
    description:
      'How bench knows that it serves: it answers a query; its first line is {"ready":true}; or a line of its output.',
  }),
  stop: oneOf(STOP_SIGNALS)
    .default('SIGTERM')
    .meta({ description: 'The signal that ends it. After 3 s it is killed.' }),
  version: z.strictObject({ command: words, pattern }).optional().meta({
    description: 'A command that prints the version, and a regular expression with one group around it.',
  }),
  transports: z
    .array(oneOf(TRANSPORTS), 'must be a list of transports')
    .min(1, 'must not be empty')
    .default(['udp'])
    .meta({ description: 'What it can serve.' }),
  modes: z
    .array(oneOf(MODES), 'must be a list of modes')
    .min(1, 'must not be empty')
    .default(['single'])
    .meta({
      description: 'single: one thread is enough; multi: it can use several cores, for example {workers}.',
    }),
  unknownZones: oneOf(['NXDOMAIN', 'REFUSED', 'either']).default('either').meta({
    description: 'How it answers for a name outside its zones. either: its first such answer decides.',
  }),
  image: text.optional().meta({ description: 'Container image for --target kubernetes.' }),
  imageArguments: words
    .optional()
    .meta({ description: "Arguments for the image's entry point. Default: those of command." }),
});
export type Description = z.output<typeof descriptionSchema>;

/** Where a description is, and its text. */
export interface OwnFile {
  /** As typed. */
  readonly path: string;
  readonly text: string;
  /** Absolute path of the directory where the program runs. */
  readonly directory: string;
}

type Issue = z.core.$ZodIssue;

const KEYS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(descriptionSchema.shape),
  zones: ['format'],
  version: ['command', 'pattern'],
  ready: ['line'],
};

function unknownKey(path: readonly PropertyKey[], key: string): string {
  const known = KEYS[path.join('.')] ?? [];
  const meant = nearest(key, [...known]);
  const hint = meant === undefined ? `the keys are ${known.join(', ')}` : `did you mean "${meant}"?`;
  return `${[...path, key].join('.')}: there is no such key; ${hint}`;
}

function issueTexts(issue: Issue): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(issue.path, key));
  const missing = issue.code === 'invalid_type' && issue.input === undefined;
  return [`${issue.path.join('.')}: ${missing ? 'is missing' : issue.message}`];
}

/** Whether the first file of a format says at which port to listen, as a Corefile does. */
function saysPort(format: string): boolean {
  const port = 54_321;
  const [file] = findFormat(format).render(defineZoneSet({ to: 1 }), { port });
  return [...(file?.chunks ?? [])]
    .join('')
    .replaceAll(/^(?:#|\/\/).*/gm, '')
    .includes(String(port));
}

/** What the schema cannot say. */
function contentProblems(description: Description): string[] {
  const { command, beside, environment, files, zones, imageArguments = [] } = description;
  const problems: string[] = [];
  const texts = [
    ...command.map((word, index) => [`command.${index}`, word] as const),
    ...beside.flatMap((other, index) => other.map((word, at) => [`beside.${index}.${at}`, word] as const)),
    ...Object.entries(environment).map(([name, value]) => [`environment.${name}`, value] as const),
    ...Object.entries(files).map(([name, value]) => [`files.${name}`, value] as const),
    ...imageArguments.map((word, index) => [`imageArguments.${index}`, word] as const),
  ];
  for (const [path, value] of texts) {
    problems.push(...unknownPlaceholders(value).map((problem) => `${path}: ${problem}`));
  }
  const used = new Set(texts.flatMap(([, value]) => placeholdersIn(value)));
  const hasFormat = zones !== undefined && FORMATS.includes(zones.format);
  if (!used.has('port') && !(hasFormat && used.has('zone-file') && saysPort(zones.format)))
    problems.push('command: must contain {port}: bench chooses the port');
  if (zones === undefined && used.has('zone-file')) {
    problems.push('zones: {zone-file} needs a format, for example zones: {format: bind}');
  }
  if (zones !== undefined && !hasFormat) {
    const meant = nearest(zones.format, FORMATS);
    problems.push(
      `zones.format: "${zones.format}" is not a format; ${meant === undefined ? `there are ${FORMATS.join(', ')}` : `did you mean "${meant}"?`}`,
    );
  }
  const odd = Object.keys(files).find((name) => !/^[\w][\w.-]*$/.test(name));
  if (odd !== undefined) problems.push(`files.${odd}: must be the plain name of a file`);
  return problems;
}

/** The server that `yaml` describes, or all that is wrong with it. */
export async function parseDescription(
  yaml: string,
): Promise<Description | { readonly problems: readonly string[] }> {
  const { parse: parseYaml } = await import('yaml');
  let value: unknown;
  try {
    value = parseYaml(yaml);
  } catch (error) {
    return {
      problems: [`is not YAML: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`],
    };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problems: ['must be a mapping, with at least: command: [my-server, --port, "{port}"]'] };
  }
  const parsed = descriptionSchema.safeParse(value, { reportInput: true });
  if (!parsed.success) return { problems: parsed.error.issues.flatMap(issueTexts) };
  const problems = contentProblems(parsed.data);
  return problems.length > 0 ? { problems } : parsed.data;
}
