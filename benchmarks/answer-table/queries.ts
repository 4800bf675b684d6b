/** Queries in one buffer, so that sending one allocates nothing. */

/** Bytes per query slot: enough for these names with EDNS. */
const STRIDE = 128;
const HEADER_BYTES = 12;

export interface Question {
  readonly name: string;
  readonly type: number;
  readonly edns?: boolean;
}

export interface Queries {
  readonly bytes: Uint8Array;
  readonly stride: number;
  readonly lengths: Uint16Array;
}

function encode({ name, type, edns = false }: Question, id: number): Buffer {
  const header = Buffer.from([id >> 8, id & 0xff, 1, 0, 0, 1, 0, 0, 0, 0, 0, edns ? 1 : 0]);
  const labels = name.split('.').flatMap((label) => [Buffer.of(label.length), Buffer.from(label, 'latin1')]);
  // OPT: root, type 41, 4096 bytes, version 0, DO, no options.
  const opt = edns ? [0, 0, 41, 0x10, 0, 0, 0, 0x80, 0, 0, 0] : [];
  const message = Buffer.concat([header, ...labels, Buffer.from([0, 0, type, 0, 1, ...opt])]);
  if (message.length > STRIDE || message.length < HEADER_BYTES) throw new Error(`${name} is too long`);
  return message;
}

export function queriesFor(questions: readonly Question[]): Queries {
  const bytes = new Uint8Array(questions.length * STRIDE);
  const lengths = new Uint16Array(questions.length);
  for (const [index, question] of questions.entries()) {
    const message = encode(question, index & 0xffff);
    bytes.set(message, index * STRIDE);
    lengths[index] = message.length;
  }
  return { bytes, stride: STRIDE, lengths };
}
