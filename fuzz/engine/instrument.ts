/**
 * Inserts counters and comparison probes into modules as they are loaded: TypeScript sources of this workspace, with
 * types stripped as Node.js strips them, so that lines and columns stay where they are.
 */
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { type AnyNode, type BinaryExpression, type Node, parse } from 'acorn';
import { full } from 'acorn-walk';
import { newSite, PROBES } from './coverage.ts';

const COMPARISONS: Readonly<Record<string, string>> = {
  '===': 'eq',
  '!==': 'ne',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
};

/** What comes first at one place in the text. */
const PHASE = { end: 0, statement: 1, start: 2, operator: 3 };

/** Text to insert, or to put in place of `replaces` characters. */
interface Edit {
  readonly at: number;
  readonly text: string;
  readonly replaces: number;
  readonly phase: number;
  /** Order within a phase. */
  readonly rank: number;
}

class Edits {
  readonly #edits: Edit[] = [];

  /** Nodes are visited after the nodes in them, so whatever is added later is further out. */
  around({ start, end }: Node, before: string, after: string): void {
    const rank = this.#edits.length;
    this.#edits.push({ at: start, text: before, replaces: 0, phase: PHASE.start, rank: -rank });
    this.#edits.push({ at: end, text: after, replaces: 0, phase: PHASE.end, rank });
  }

  statement(at: number, text: string): void {
    this.#edits.push({ at, text, replaces: 0, phase: PHASE.statement, rank: 0 });
  }

  replace(at: number, length: number, text: string): void {
    this.#edits.push({ at, text, replaces: length, phase: PHASE.operator, rank: 0 });
  }

  applyTo(source: string): string {
    this.#edits.sort((one, other) => one.at - other.at || one.phase - other.phase || one.rank - other.rank);
    let result = '';
    let from = 0;
    for (const { at, text, replaces } of this.#edits) {
      result += source.slice(from, at) + text;
      from = at + replaces;
    }
    return result + source.slice(from);
  }
}

/** Where the operator between two operands begins: parentheses and comments may surround it. */
function operatorAt(source: string, { left, right, operator }: BinaryExpression): number {
  const between = source.slice(left.end, right.start);
  const blanked = between.replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, (comment) => ' '.repeat(comment.length));
  return left.end + blanked.indexOf(operator);
}

/** Adds the edits for one node. */
function probe(source: string, node: AnyNode, edits: Edits): void {
  const counter = () => `${PROBES}.n[${newSite()}]++`;
  const expression = (inner: Node) => edits.around(inner, `(${counter()},`, ')');
  const body = (inner: Node | null | undefined) => {
    if (inner && inner.type !== 'BlockStatement') edits.around(inner, `{${counter()};`, '}');
  };
  switch (node.type) {
    case 'BlockStatement':
      edits.statement(node.start + 1, `${counter()};`);
      break;
    case 'IfStatement':
      body(node.consequent);
      body(node.alternate);
      break;
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
      body(node.body);
      break;
    case 'SwitchCase':
      if (node.consequent[0] !== undefined) edits.statement(node.consequent[0].start, `${counter()};`);
      break;
    case 'ArrowFunctionExpression':
      if (node.body.type !== 'BlockStatement') expression(node.body);
      break;
    case 'ConditionalExpression':
      expression(node.consequent);
      expression(node.alternate);
      break;
    case 'LogicalExpression':
      expression(node.right);
      break;
    case 'BinaryExpression': {
      const comparison = COMPARISONS[node.operator];
      if (comparison === undefined) break;
      edits.around(node, `${PROBES}.${comparison}(`, ')');
      edits.replace(operatorAt(source, node), node.operator.length, ',');
    }
  }
}

/** JavaScript with counters where control flow branches, and calls in place of comparisons. */
export function instrument(source: string): string {
  const edits = new Edits();
  full(parse(source, { ecmaVersion: 'latest', sourceType: 'module' }), (node) => probe(source, node, edits));
  return edits.applyTo(source);
}

/** From now on, modules of this thread whose URL `covers` are instrumented as they are loaded. */
export function instrumentModules(covers: (url: string) => boolean): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (loaded.format !== 'module-typescript' || !covers(url)) return loaded;
      const source = instrument(stripTypeScriptTypes(String(loaded.source)));
      return { ...loaded, format: 'module', source };
    },
  });
}
