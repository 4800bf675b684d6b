/** All targets. Instrument the packages before importing this. */
import type { Target } from './engine/target.ts';
import { answer } from './targets/answer.ts';
import { capture } from './targets/capture.ts';
import { http2 } from './targets/http2.ts';
import { query } from './targets/query.ts';
import { queryFile } from './targets/query-file.ts';
import { stream } from './targets/stream.ts';
import { zoneFile } from './targets/zone-file.ts';

export const TARGETS: readonly Target[] = [query, zoneFile, queryFile, capture, answer, stream, http2];
