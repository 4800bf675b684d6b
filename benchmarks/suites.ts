/** All suites. A new suite is a file with a `Suite` and a line here. */
import { answerTableSuite } from './answer-table/suite.ts';
import { exchangeSuite } from './batched-udp/exchange.ts';
import { handlerSuite } from './batched-udp/handler.ts';
import { bindingsSuite } from './bindings/bindings.ts';
import type { Suite } from './harness.ts';
import { loadSuite } from './load/suite.ts';

export const suites: readonly Suite[] = [
  exchangeSuite,
  handlerSuite,
  bindingsSuite,
  answerTableSuite,
  loadSuite,
];
