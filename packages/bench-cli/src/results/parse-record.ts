/** From the text of a `run.json` to a checked record, or to an error that says what is wrong with it. */
import { messageOf } from '@dinodns-bench/program';
import { z } from 'zod';
import { BenchError } from '../errors.ts';
import { compareKind } from './compare-kind.ts';
import { describeForeignJson, describeForeignText } from './foreign.ts';
import { commandMaking, headerSchema, type RecordKind } from './record-kind.ts';

/** Enough to see the kind of damage. */
const MAX_PROBLEMS = 10;

const generatedByBench = z.looseObject({
  schemaVersion: z.unknown(),
  generator: z.object({ name: z.literal('dinodns-bench'), version: z.unknown() }),
});

/** The experiment that a record names, by default `compare`, whose records do not name it. */
function experimentOf(value: unknown): string {
  const named = z.object({ experiment: z.string() }).safeParse(value);
  return named.success ? named.data.experiment : compareKind.experiment;
}

/** The same of a record's text. Does not check whether it is a record. */
export function experimentNameIn(text: string): string {
  try {
    return experimentOf(JSON.parse(text));
  } catch {
    return compareKind.experiment;
  }
}

/** `trials[3].load.qps` */
function formatPath(path: readonly PropertyKey[]): string {
  const text = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
  return text === '' ? 'the record' : text;
}

/** The problems of a failed check as lines, the first ten of them. */
export function listProblems(error: z.ZodError): string[] {
  const lines = error.issues.map(({ path, message }) => `${formatPath(path)}: ${message}`);
  const shown = lines.slice(0, MAX_PROBLEMS);
  return lines.length > shown.length ? [...shown, `… and ${lines.length - shown.length} more`] : shown;
}

/** Whether JSON ends before its value does, by the message of `JSON.parse`: then it was cut off, or not all was written. */
function endsTooEarly(text: string, message: string): boolean {
  const position = /at position (\d+)/.exec(message)?.[1];
  return message.includes('end of JSON input') || Number(position) >= text.trimEnd().length;
}

/**
 * The value in the text of a file.
 * @throws BenchError `E_RECORD_UNREADABLE` that says what is wrong with it, with this fix
 */
export function parseJsonFile(text: string, path: string, fix: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // It may quote a piece of the file, of several lines.
    const message = messageOf(cause).replaceAll(/\s+/g, ' ');
    const what = endsTooEarly(text, message) ? 'is cut off: it ends too early' : `is damaged: ${message}`;
    throw new BenchError('E_RECORD_UNREADABLE', `${path} ${text.trim() === '' ? 'is empty' : what}`, {
      fix,
      cause,
    });
  }
}

const RESTORE =
  'Restore the file from a copy, or measure again; `bench` itself only ever replaces the whole file.';

function parseJson(text: string, path: string): unknown {
  try {
    return parseJsonFile(text, path, RESTORE);
  } catch (error) {
    const foreign = describeForeignText(text);
    throw foreign === null ? error : foreignRecord(path, foreign);
  }
}

function foreignRecord(path: string, description: string): BenchError {
  return new BenchError(
    'E_RECORD_FOREIGN',
    `${path} is not a record of bench; it looks like ${description}`,
    {
      fix: 'Give the run.json of a run of bench, its folder, its id, or `latest`.',
    },
  );
}

function unreadableVersion(
  kind: RecordKind<unknown>,
  path: string,
  version: unknown,
  writtenBy: unknown,
): BenchError {
  const found = JSON.stringify(version) ?? 'none';
  const isNewer = typeof version === 'number' && version > kind.schemaVersion;
  const fix = isNewer
    ? `It was written by bench ${String(writtenBy)}, which is newer: update this one (git pull), or use that one.`
    : `Use the version of bench that wrote it: ${String(writtenBy)}.`;
  return new BenchError(
    'E_RECORD_VERSION',
    `${path} has schema version ${found}, this version of bench reads ${kind.schemaVersion}`,
    { fix },
  );
}

/** A record of another experiment than the one that was asked for. */
function otherExperiment(path: string, found: string, wanted: string): BenchError {
  return new BenchError('E_RECORD_FOREIGN', `${path} is a record of the experiment "${found}"`, {
    fix: `This needs a run of \`${commandMaking(wanted)}\`. To see this one: bench report, bench open.`,
  });
}

/**
 * The record in `text`; `path` is only named in errors. Fields
 * that this version does not know are dropped. Throws `E_RECORD_UNREADABLE` (not JSON, or breaking the schema),
 * `E_RECORD_FOREIGN` (other JSON, or a record of another experiment) or `E_RECORD_VERSION` (ours, but of a schema
 * version that is not known).
 */
export function parseRecordAs<R>(kind: RecordKind<R>, text: string, path: string): R {
  const value = parseJson(text, path);
  const header = generatedByBench.safeParse(value);
  if (!header.success) throw foreignRecord(path, describeForeignJson(value));
  const { schemaVersion, generator } = header.data;
  const experiment = experimentOf(value);
  if (experiment !== kind.experiment) throw otherExperiment(path, experiment, kind.experiment);
  if (schemaVersion !== kind.schemaVersion)
    throw unreadableVersion(kind, path, schemaVersion, generator.version);
  const record = kind.schema.safeParse(header.data);
  if (record.success) return record.data;
  const problems = record.error.issues.length;
  throw new BenchError(
    'E_RECORD_UNREADABLE',
    `${path} violates the record's schema in ${problems} ${problems === 1 ? 'place' : 'places'}`,
    {
      fix: 'Undo any manual changes to the file, or measure again.',
      evidence: listProblems(record.error),
    },
  );
}

/** What every experiment's record says of itself. Throws `E_RECORD_UNREADABLE` or `E_RECORD_FOREIGN`. */
export function parseHeader(text: string, path: string) {
  const value = parseJson(text, path);
  if (!generatedByBench.safeParse(value).success) throw foreignRecord(path, describeForeignJson(value));
  const header = headerSchema.safeParse(value);
  if (header.success) return header.data;
  throw new BenchError('E_RECORD_UNREADABLE', `${path} lacks fields that every record has`, {
    fix: 'Undo any manual changes to the file, or measure again.',
    evidence: listProblems(header.error),
  });
}
