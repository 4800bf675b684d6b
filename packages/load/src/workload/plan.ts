/** From options to a plan: reads files and encodes every message once. */

import { readFile } from 'node:fs/promises';
import { joinNames, nameText } from '@dinodns-bench/wire';
import { loadError, unreadable } from '../errors.ts';
import { type EncodeQuery, encoderFor } from '../message/encoder.ts';
import type { MessageOptions } from '../options.ts';
import { loadCapture } from '../pcap/capture.ts';
import type { Kind, WorkloadOptions } from './options.ts';
import { candidateNames } from './pod-lookups.ts';
import { parseQueryFile } from './query-file.ts';
import {
  checkedWeights,
  type NameList,
  popularityWeights,
  reverseNames,
  typeNumbers,
  wireNames,
  zoneNames,
} from './questions.ts';
import { cumulate } from './weights.ts';
import { arenaBuilder, type WorkloadPlan } from './workload.ts';

type Ordered = Pick<Kind<'names'>, 'popularity' | 'zipfExponent' | 'randomLabelLength'>;

const NOTHING_SPECIAL = {
  cumulativeWeights: null,
  dueSeconds: null,
  passes: null,
  randomLabelLength: null,
  resolver: null,
} as const;

/** An encoder that prepends a label of `length` bytes, to be overwritten, to each name. */
function withRandomLabel(encode: EncodeQuery, length: number | null): EncodeQuery {
  if (length === null) return encode;
  const label = new Uint8Array(length + 2).fill(0x78, 1, length + 1);
  label[0] = length;
  return (name, type) => {
    const joined = joinNames(label, name);
    if (joined === undefined) {
      const text = nameText(name);
      const problem = `"${text}" is too long for a random label of ${length} bytes`;
      throw loadError('E_WORKLOAD', problem, 'give a shorter random label');
    }
    return encode(joined, type);
  };
}

/** The order as reports name it: "in order", "at random", … */
function orderText({ popularity, zipfExponent, randomLabelLength }: Ordered, weighted: boolean): string {
  const drawn = weighted ? 'at random by weight' : 'at random';
  const order = {
    sequence: weighted ? drawn : 'in order',
    random: drawn,
    zipf: `at random by Zipf's law with exponent ${zipfExponent}`,
  }[popularity];
  return randomLabelLength === null ? order : `${order}, each with a random label prepended`;
}

/** A plan of messages in the order that the options ask for. */
function ordered(
  arena: ReturnType<typeof arenaBuilder>,
  options: Ordered,
  weights: ArrayLike<number> | null,
  what: string,
): WorkloadPlan {
  return {
    ...NOTHING_SPECIAL,
    description: `${what}, ${orderText(options, weights !== null)}`,
    arena: arena.finish(),
    order: weights !== null || options.popularity !== 'sequence' ? 'random' : 'sequence',
    cumulativeWeights: weights === null ? null : cumulate(weights),
    randomLabelLength: options.randomLabelLength,
  };
}

/** Every name with every type, weighted by the product of both weights if there are any. */
function planNames(
  list: NameList,
  options: Ordered & Pick<Kind<'names'>, 'types' | 'typeWeights'>,
  message: MessageOptions,
  what: (names: number) => string,
): WorkloadPlan {
  const { types } = options;
  const typeWeights = checkedWeights(options.typeWeights, types.length, 'types');
  const encode = withRandomLabel(encoderFor(message), options.randomLabelLength);
  const arena = arenaBuilder();
  const numbers = typeNumbers(types);
  const weights: number[] = [];
  const weighted = list.weights !== null || typeWeights !== null;
  let names = 0;
  for (const name of wireNames(list.names)) {
    for (const [position, type] of numbers.entries()) {
      arena.add(encode(name, type));
      if (weighted) weights.push((list.weights?.[names] ?? 1) * (typeWeights?.[position] ?? 1));
    }
    names += 1;
  }
  const asked = types.length === 1 ? `type ${types[0]}` : `types ${types.join(', ')}`;
  return ordered(arena, options, weighted ? weights : null, `${what(names)}, ${asked}`);
}

function planGivenNames(options: Kind<'names'>, message: MessageOptions): WorkloadPlan {
  const { names, popularity } = options;
  const given = checkedWeights(options.weights, names.length, 'names');
  if (given !== null && popularity === 'zipf')
    throw loadError('E_WORKLOAD', 'names have weights and Zipf popularity', 'choose one of them');
  const weights = given ?? popularityWeights(options, names.length);
  return planNames({ names, weights }, options, message, (count) =>
    count === 1 ? `${names[0]}` : `${count} names`,
  );
}

function planZones(options: Kind<'zones'>, message: MessageOptions): WorkloadPlan {
  const { pattern, from, to, hitRatio } = options;
  // All digits that were given: 99.999 % is not 100 %.
  const hits = hitRatio === null ? '' : `, ${Number((hitRatio * 100).toPrecision(12))} % of them odd`;
  const what = `${pattern} for X from ${from} to ${to}${hits}`;
  return planNames(zoneNames(options), options, message, () => what);
}

async function planFile(options: Kind<'file'>, message: MessageOptions): Promise<WorkloadPlan> {
  const encode = withRandomLabel(encoderFor(message), options.randomLabelLength);
  const arena = arenaBuilder();
  const content = await readFile(options.path).catch((error: unknown) => {
    throw unreadable(options.path, error);
  });
  const count = parseQueryFile(options.path, content, (name, type) => arena.add(encode(name, type)));
  const queries = count === 1 ? 'the one query' : `${count} queries`;
  return ordered(arena, options, popularityWeights(options, count), `${queries} of ${options.path}`);
}

function planPod(options: Kind<'kubernetes'>, message: MessageOptions): WorkloadPlan {
  const encode = encoderFor(message);
  const arena = arenaBuilder();
  const types = typeNumbers(options.types);
  const weights = checkedWeights(options.weights, options.names.length, 'names');
  // The names themselves first: an error should show what the user wrote, not a candidate derived from it.
  wireNames(options.names);
  wireNames([options.clusterDomain, options.namespace, ...options.search]);
  const offsets = [0];
  for (const name of options.names) {
    const candidates = wireNames(candidateNames(name, options));
    for (const candidate of candidates) for (const type of types) arena.add(encode(candidate, type));
    offsets.push((offsets.at(-1) ?? 0) + candidates.length);
  }
  const candidateOffsets = new Uint32Array(new SharedArrayBuffer(offsets.length * 4));
  candidateOffsets.set(offsets);
  const { names, namespace, ndots } = options;
  const shown = names.length > 3 ? `${names.length} names` : names.join(', ');
  return {
    ...NOTHING_SPECIAL,
    description: `lookups of ${shown} as from a pod of namespace ${namespace}, ndots:${ndots}, ${options.types.join(' and ')}`,
    arena: arena.finish(),
    order: weights === null ? 'sequence' : 'random',
    cumulativeWeights: weights === null ? null : cumulate(weights),
    resolver: { candidateOffsets, messagesPerCandidate: types.length },
  };
}

async function planCapture(options: Kind<'pcap'>): Promise<WorkloadPlan> {
  const { arena, dueSeconds, spanSeconds, skipped } = await loadCapture(options.path, options.port);
  const due = new Float64Array(new SharedArrayBuffer(dueSeconds.length * 8));
  for (const [index, seconds] of dueSeconds.entries()) due[index] = seconds / options.speed;
  const speed = options.speed === 1 ? '' : `, ${options.speed} times as fast`;
  const left = skipped === '' ? '' : ` (skipped: ${skipped})`;
  return {
    ...NOTHING_SPECIAL,
    description: `${arena.count} queries captured over ${spanSeconds.toFixed(3)} s in ${options.path}${speed}${left}`,
    arena,
    order: 'timed',
    dueSeconds: due,
    passes: 1,
  };
}

/**
 * Reads files and encodes every message.
 * @throws LoadError `E_QUERY_FILE` with the line number, `E_NAME`, `E_WORKLOAD`, `E_OPTIONS`, `E_PCAP`, `E_UNREADABLE`.
 */
export async function planWorkload(options: WorkloadOptions, message: MessageOptions): Promise<WorkloadPlan> {
  switch (options.kind) {
    case 'names':
      return planGivenNames(options, message);
    case 'zones':
      return planZones(options, message);
    case 'reverse':
      return planNames(
        reverseNames(options),
        { ...options, types: ['PTR'], typeWeights: null },
        message,
        (count) => `the ${count} addresses of ${options.network}`,
      );
    case 'file':
      return planFile(options, message);
    case 'kubernetes':
      return planPod(options, message);
    case 'pcap':
      return planCapture(options);
  }
}
