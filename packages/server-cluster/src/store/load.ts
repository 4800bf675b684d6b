/** Fills stores from zone sources. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '@dinodns-bench/program';
import { lowerCaseName } from '@dinodns-bench/wire';
import { type ZoneTemplate, zoneTemplate } from '@dinodns-bench/zones/data';
import { ServerError } from '../errors.ts';
import type { ZoneSource } from '../options.ts';
import { type AnswerTableOptions, createAnswerTable } from '../table/answer-table.ts';
import type { Responder } from '../table/responder.ts';
import { faultsOf, readInto } from '../zone-files/read-zone.ts';
import { loadRecords } from '../zone-files/records-file.ts';
import { wrongNames } from '../zone-files/soundness.ts';
import { BulkLoader } from './bulk.ts';
import { Slices } from './slices.ts';
import type { ZoneInput } from './zone-input.ts';
import { ZoneStore } from './zone-store.ts';

export interface LoadOptions {
  /** The longest that the event loop, which answers queries, waits for a turn, in seconds. Default: 0.001. */
  readonly sliceSeconds?: number;
}

type Target = Pick<ZoneStore, 'addZone'>;

/** Zones to load, or a store that has loaded them. */
export type Zones = ZoneSource | ZoneStore;

/**
 * Adds all zones of a source in slices, so that queries are answered meanwhile; of a store, all are taken over. A million zones
 * of a `ZoneSet` take about a second. Rejects with `E_ZONES` or `E_UNREADABLE`, naming the zone and the record.
 */
export async function loadStore(
  store: ZoneStore,
  source: Zones,
  { sliceSeconds }: LoadOptions = {},
): Promise<void> {
  const slices = new Slices(sliceSeconds);
  const template = zoneTemplate(source);
  if (source instanceof ZoneStore) store.replaceWith(source);
  else if (template === undefined) await addZones(store, source, slices);
  else await addTemplate(store, template, slices);
  await store.data.denials.prepare(slices.pause);
}

/**
 * Adds the zone of a zone file (RFC 1035) to a store, in slices. Its name is `origin`, or that of its SOA record.
 * Rejects with a `ZonesError`, whose problems have file, line and column, and then adds nothing.
 */
export async function loadZoneFile(
  store: ZoneStore,
  file: string,
  { origin, sliceSeconds }: LoadOptions & { readonly origin?: string } = {},
): Promise<void> {
  const slices = new Slices(sliceSeconds);
  const option = origin === undefined ? { file } : { file, origin };
  const directory = await mkdtemp(join(tmpdir(), 'dinodns-server-'));
  try {
    const path = join(directory, 'zone.records');
    const zone = await readInto(path, option, slices);
    const apart = new ZoneStore();
    await loadRecords(apart.data, path, zone, slices);
    const [nodes] = (await wrongNames(apart.data, [lowerCaseName(zone)], slices)).values();
    if (nodes !== undefined) {
      const suspects = Array.from(nodes, (node) => apart.data.names.nameOf(node));
      throw await faultsOf(option, zone, suspects, slices);
    }
    if (store.data.isEmpty) store.replaceWith(apart);
    else await loadRecords(store.data, path, zone, slices);
    await store.data.denials.prepare(slices.pause);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Adds all zones of a source one by one to a store of any kind. Rejects as `loadStore`. */
export async function addZones(store: Target, source: ZoneSource, slices = new Slices()): Promise<void> {
  for await (const zone of source.zones()) {
    addZone(store, zone);
    if (slices.isOver) await slices.pause();
  }
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

async function addTemplate(store: ZoneStore, template: ZoneTemplate, slices: Slices): Promise<void> {
  const loader = new BulkLoader(store.data, template);
  let isFirst = true;
  for (const name of template.names()) {
    if (isFirst) loader.reserve(template.size, name.indexOf('.'));
    isFirst = false;
    if (!loader.add(name)) addZone(store, template.zone(name));
    if (slices.isOver) await slices.pause();
  }
}

/** A new store with all zones of the source, and an answer table for it, built while others keep serving. */
export async function buildTable(
  source: Zones,
  options: LoadOptions & AnswerTableOptions = {},
): Promise<{ readonly store: ZoneStore; readonly table: Responder }> {
  const store = new ZoneStore();
  await loadStore(store, source, options);
  return { store, table: createAnswerTable(store, options) };
}
