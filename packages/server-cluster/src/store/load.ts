/** Fills stores from zone sources. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '@dinodns-bench/program';
import { originFromText, type ZoneTemplate, zoneTemplate } from '@dinodns-bench/zones';
import { ServerError } from '../errors.ts';
import type { ZoneSource } from '../options.ts';
import { type AnswerTableOptions, createAnswerTable } from '../table/answer-table.ts';
import type { Responder } from '../table/responder.ts';
import { readInto } from '../zone-files/read-zone.ts';
import { RecordsFile } from '../zone-files/records-file.ts';
import { BulkLoader, compileZone } from './bulk.ts';
import type { ZoneInput } from './zone-input.ts';
import { ZoneStore } from './zone-store.ts';
import { ZonesFile } from './zones-file.ts';

export interface LoadOptions {
  /**
   * Zones between two turns of the event loop, which answers queries. Default 1000: about a millisecond for zones
   * of the same layout, 20 for others.
   */
  readonly yieldEvery?: number;
}

/** Stands for a zone's name in a template; no generated name has this character. */
const STAND_IN = '~';

interface Target {
  addZone(zone: ZoneInput): void;
}

/**
 * Adds all zones of a source in batches, so that queries are answered meanwhile. A million zones of the same
 * layout (a `ZoneSet`, or a file of one) take about a second. Rejects with `E_ZONES` or `E_UNREADABLE`, naming the
 * zone and the record.
 */
export async function loadStore(
  store: ZoneStore,
  source: ZoneSource,
  { yieldEvery = 1000 }: LoadOptions = {},
): Promise<void> {
  await addAll(store, source, yieldEvery);
  await store.data.denials.prepare(nextTurn);
}

function addAll(store: ZoneStore, source: ZoneSource, yieldEvery: number): Promise<void> {
  const template = zoneTemplate(source);
  if (template !== undefined) return addTemplate(store, template, yieldEvery);
  if (source instanceof ZonesFile) return source.addTo(store, yieldEvery, nextTurn);
  if (source instanceof RecordsFile) return source.addTo(store, yieldEvery, nextTurn);
  return addInTurns(store, source, yieldEvery);
}

/**
 * Adds the zone of a zone file (RFC 1035) to a store, in batches. Its name is `origin`, or that of its SOA record.
 * Rejects with a `ZonesError`, whose problems have file, line and column, and then adds nothing.
 */
export async function loadZoneFile(
  store: ZoneStore,
  file: string,
  { origin, yieldEvery = 1000 }: LoadOptions & { readonly origin?: string } = {},
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'dinodns-server-'));
  try {
    const path = join(directory, 'zone.records');
    const zone = await readInto(path, origin === undefined ? { file } : { file, origin });
    await new RecordsFile(path, originFromText(zone)).addTo(store, yieldEvery, nextTurn);
    await store.data.denials.prepare(nextTurn);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The same for any store, zone by zone and synchronously. */
export function addZones(store: Target, source: ZoneSource): void {
  for (const zone of source.zones()) addZone(store, zone);
}

function addZone(store: Target, zone: ZoneInput): void {
  try {
    store.addZone(zone);
  } catch (error) {
    throw new ServerError(
      'E_ZONES',
      `Zone "${zone.name}" cannot be served: ${messageOf(error)}`,
      'Correct or omit the record.',
      error,
    );
  }
}

/** A new store with all zones of the source, and an answer table for it, built while others keep serving. */
export async function buildTable(
  source: ZoneSource,
  options: LoadOptions & AnswerTableOptions = {},
): Promise<{ readonly store: ZoneStore; readonly table: Responder }> {
  const store = new ZoneStore();
  await loadStore(store, source, options);
  return { store, table: createAnswerTable(store, options) };
}

async function addInTurns(store: ZoneStore, source: ZoneSource, yieldEvery: number): Promise<void> {
  let count = 0;
  for (const zone of source.zones()) {
    addZone(store, zone);
    if (++count % yieldEvery === 0) await nextTurn();
  }
}

async function addTemplate(store: ZoneStore, template: ZoneTemplate, yieldEvery: number): Promise<void> {
  const compiled = compileZone(store.data, template.zone(STAND_IN));
  const loader = new BulkLoader(store.data);
  let count = 0;
  for (const name of template.names()) {
    if (count === 0) store.data.reserve(template.size * compiled.owners.length, name.indexOf('.'));
    if (!loader.addText(compiled, name)) addZone(store, template.zone(name));
    if (++count % yieldEvery === 0) await nextTurn();
  }
}
