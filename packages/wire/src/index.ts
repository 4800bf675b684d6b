/** DNS on the wire: names, types, classes, codes, header, EDNS, and queries read in place. */
export {
  type AddressPrefix,
  addressBytes,
  addressText,
  mappedAddress,
  parsePrefix,
  prefixBytes,
  reverseName,
} from './addresses.ts';
export { RCODE, rcodeName, rcodeNumber } from './codes.ts';
export {
  EDNS_FLAG,
  EDNS_OPTION,
  EDNS_UDP_BYTES,
  type EdnsOption,
  encodeOpt,
  OPT_BYTES,
  type OptFields,
} from './edns.ts';
export { createFrameReader, DOH_MEDIA_TYPE, DOH_PATH, frameOf } from './framing.ts';
export {
  FLAG,
  HEADER_BYTES,
  MAX_MESSAGE_BYTES,
  OPCODE_MASK,
  PLAIN_UDP_BYTES,
  RCODE_MASK,
  u8,
  u16,
} from './header.ts';
export {
  canonicalKey,
  canonicalName,
  encodeName,
  nameText,
  type ParsedName,
  parseName,
  parseNameBytes,
} from './name-text.ts';
export {
  compareLabels,
  type ExpandedName,
  expandName,
  findNameEnd,
  joinNames,
  LOWER_CASE,
  lowerCaseName,
  MAX_LABEL_BYTES,
  MAX_LABELS,
  MAX_NAME_BYTES,
  POINTER_BITS,
  skipName,
} from './names.ts';
export { GOOD, IGNORE, NO_QUESTION, QueryReader } from './query-reader.ts';
export { encodeQuery, type QueryFields } from './query-writer.ts';
export {
  DATA_TYPES,
  type DataPart,
  decodeData,
  encodeData,
  encodePart,
  encodeRecord,
  fieldsOf,
  joinParts,
  keysOf,
  MAX_STRING_BYTES,
  namesAt,
  namesIn,
  partsOf,
} from './record-data.ts';
export {
  CLASS,
  className,
  classNumber,
  isMetaType,
  TYPE,
  TYPE_NAMES,
  type TypeName,
  typeName,
  typeNumber,
} from './types.ts';
