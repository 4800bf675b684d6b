/** Zones as data: zone sets, zone files and `zones.ndjson`. A server that reads them loads no formats and no workloads. */
export { ERROR_CODES, type ErrorCode, ZonesError } from './errors.ts';
export { DEFAULT_SOA } from './plan.ts';
export type { RecordData, ResourceRecord, SpecRecord } from './record-schema.ts';
export type { ZoneSetInput, ZoneSetSpec } from './spec.ts';
export {
  type CheckedRecord,
  checkZone,
  hashFinding,
  MAX_NSEC3_ITERATIONS,
  type ZoneFinding,
} from './zone-check/zone-check.ts';
export { isWithin, zoneFileName } from './zone-file/names.ts';
export {
  type IncludedFile,
  originFromText,
  type ParseOptions,
  parseZoneFile,
  type ZoneRecord,
} from './zone-file/parse.ts';
export { ZoneFileError, type ZoneFilePlace, type ZoneFileProblem } from './zone-file/problem.ts';
export { dataText } from './zone-file/rdata/index.ts';
export { readZoneFile } from './zone-file/read-file.ts';
export {
  defineZoneSet,
  type Lookup,
  type Zone,
  type ZoneSet,
  type ZoneTemplate,
  zonesInFiles,
  zoneTemplate,
} from './zone-set.ts';
export { parseZonesJson } from './zones-json.ts';
