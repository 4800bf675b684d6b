/** What a store answers, by the table and by the framework alike. */
import type { ZoneStore } from '../../src/store/zone-store.ts';
import { createAnswerTable } from '../../src/table/answer-table.ts';
import { answerTo } from '../table/ask.ts';
import { chainReply } from '../table/chain.ts';

/** The table's reply. Throws if there is none, or if the framework's chain replies something else. */
export function tableReply(store: ZoneStore, message: Buffer): Buffer {
  const reply = answerTo(createAnswerTable(store), message, 'stream');
  if (typeof reply === 'number') throw new Error(`no reply but ${reply}`);
  const chain = chainReply(store.handler, (response) => response.errors.refused(), message, 'stream');
  if (typeof chain === 'number' || !chain.equals(reply)) throw new Error('table and framework differ');
  return reply;
}
