/** DNS on the wire: names, types, classes, codes, header, EDNS, and queries read in place. */
export * from './addresses.ts';
export * from './codes.ts';
export * from './edns.ts';
export * from './header.ts';
export * from './name-text.ts';
export * from './names.ts';
export * from './query-reader.ts';
export * from './query-writer.ts';
export * from './record-data.ts';
export * from './types.ts';
