/** The cost of one answer from the table, by kind of answer. */
import { createAnswerTable, ZoneStore } from '@dinodns-bench/server-cluster';
import type { Suite } from '../harness.ts';
import { answerCases, fillStore } from './cases.ts';

export const answerTableSuite: Suite = {
  name: 'answer-table',
  unit: 'answer',
  async open() {
    const store = new ZoneStore();
    fillStore(store);
    return answerCases(createAnswerTable(store));
  },
};
