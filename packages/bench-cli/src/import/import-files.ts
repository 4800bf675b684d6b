/** Reads files of other programs, detects their format, and makes one imported record of them. */

import { createHash } from 'node:crypto';
import { basename, resolve } from 'node:path';
import { messageOf, whyUnreadable } from '@dinodns-bench/program';
import { BenchError, choiceFix } from '../errors.ts';
import { type ImportedRecord, importedRecordSchema } from '../history/imported.ts';
import { formatJson } from '../results/json-text.ts';
import { listProblems } from '../results/parse-record.ts';
import { newRunId } from '../results/run-id.ts';
import { BENCH_VERSION } from '../version.ts';
import type { World } from '../world.ts';
import { buildRecord, type ReadFile } from './build-record.ts';
import { dnsperfImporter } from './dnsperf.ts';
import { dnspyreImporter } from './dnspyre.ts';
import { flamethrowerImporter } from './flamethrower.ts';
import type { Importer } from './format.ts';
import { perfTestsImporter } from './perf-tests.ts';
import { tigerBenchImporter } from './tiger-bench.ts';

/** The formats that can be imported. To add one, add a file in this folder and a line here. */
const IMPORTERS: readonly Importer[] = [
  dnsperfImporter,
  perfTestsImporter,
  tigerBenchImporter,
  flamethrowerImporter,
  dnspyreImporter,
];

export interface ImportRequest {
  readonly files: readonly string[];
  /** Name of a format; undefined to detect it. */
  readonly format: string | undefined;
  /** The server that was measured, as the user says. */
  readonly server: string | undefined;
}

type ImportWorld = Pick<World, 'fs' | 'cwd' | 'clock'>;

/** A larger file is not the output of a benchmark. */
const MAX_BYTES = 256 * 1024 * 1024;

function importerOf(name: string): Importer {
  const found = IMPORTERS.find(({ format }) => format === name);
  if (found !== undefined) return found;
  throw new BenchError('E_USAGE', `--format: unknown format ${JSON.stringify(name)}`, {
    fix: choiceFix(
      name,
      IMPORTERS.map(({ format }) => format),
    ),
  });
}

async function readText({ fs, cwd }: ImportWorld, path: string): Promise<Buffer> {
  const absolute = resolve(cwd, path);
  try {
    const { size } = await fs.stat(absolute);
    if (size <= MAX_BYTES) return await fs.readFile(absolute);
  } catch (cause) {
    throw new BenchError('E_RECORD_UNREADABLE', `${path} ${whyUnreadable(cause)}`, {
      fix: 'Give the path of a file that you can read.',
      cause,
    });
  }
  throw new BenchError('E_RECORD_UNREADABLE', `${path} is larger than 256 MiB`, {
    fix: 'Split the file and import the parts separately.',
  });
}

function recognized(path: string, text: string): Importer {
  const found = IMPORTERS.find((importer) => importer.recognizes(text));
  if (found !== undefined) return found;
  throw new BenchError('E_RECORD_FOREIGN', `${path} is not in any format that bench can import`, {
    fix: `It reads ${IMPORTERS.map(({ format }) => format).join(', ')}; if it is one of them, say so with --format.`,
  });
}

/** Resolves with the record and its text; writes nothing. Rejects with a `BenchError` that names the file. */
export async function importFiles(
  world: ImportWorld,
  request: ImportRequest,
): Promise<{ record: ImportedRecord; text: string }> {
  const asked = request.format === undefined ? null : importerOf(request.format);
  const read: (ReadFile & { importer: Importer })[] = [];
  for (const path of request.files) {
    const bytes = await readText(world, path);
    const text = bytes.toString('utf8');
    const importer = asked ?? recognized(path, text);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const same = read.find((each) => each.sha256 === sha256);
    if (same !== undefined)
      throw new BenchError('E_USAGE', `${path} has the same content as ${same.name}`, {
        fix: 'Give each measurement once: parts are added up, and trials are counted.',
      });
    try {
      const parsed = importer.parse(text);
      read.push({ name: basename(path), sizeBytes: bytes.length, sha256, parsed, importer });
    } catch (cause) {
      throw new BenchError(
        'E_RECORD_UNREADABLE',
        `${path} cannot be read as ${importer.format}: ${messageOf(cause)}`,
        {
          fix: 'Check that the file is complete and unedited. If the format was guessed wrong, give --format.',
          cause,
        },
      );
    }
  }
  const [first] = read;
  const formats = [...new Set(read.map(({ importer }) => importer.format))];
  if (first === undefined || formats.length > 1) {
    throw new BenchError('E_USAGE', `the files are of several formats: ${formats.join(', ')}`, {
      fix: 'Import the files of each format separately.',
    });
  }
  const importedAt = world.clock.now();
  const record = buildRecord(first.importer, read, {
    id: newRunId(importedAt),
    generatorVersion: BENCH_VERSION,
    importedAt,
    server: request.server ?? null,
  });
  const checked = importedRecordSchema.safeParse(record);
  if (!checked.success) {
    throw new BenchError('E_RECORD_UNREADABLE', 'the files contain impossible figures', {
      fix: 'Check the figures listed; negative counts and the like are rejected.',
      evidence: listProblems(checked.error),
    });
  }
  return { record, text: formatJson(record) };
}
