/**
 * How an authoritative server answers, as plainly as it can be said: a list of records that is searched from
 * one end to the other. What the store and the table answer is compared with this.
 */

export interface ModelRecord {
  /** Lower case, without final dot. */
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly data: unknown;
}

export interface ModelAnswer {
  readonly rcode: 'NOERROR' | 'NXDOMAIN';
  readonly authoritative: boolean;
  readonly answers: readonly ModelRecord[];
  readonly authorities: readonly ModelRecord[];
  readonly additionals: readonly ModelRecord[];
}

const MAX_CHAIN = 9;

function parent(name: string): string {
  return name.slice(name.indexOf('.') + 1 || name.length);
}

function ancestors(name: string): string[] {
  return name === '' ? [''] : [name, ...ancestors(parent(name))];
}

export class Model {
  records: ModelRecord[] = [];

  add(record: ModelRecord): void {
    const isSame = (other: ModelRecord) =>
      other.name === record.name &&
      other.type === record.type &&
      JSON.stringify(other.data) === JSON.stringify(record.data);
    if (!this.records.some(isSame)) this.records.push(record);
  }

  at(name: string, type?: string): ModelRecord[] {
    return this.records.filter(
      (record) => record.name === name && (type === undefined || record.type === type),
    );
  }

  exists(name: string): boolean {
    return (
      name === '' || this.records.some((record) => record.name === name || record.name.endsWith(`.${name}`))
    );
  }

  /** The nearest name at or above this one that has an SOA record. */
  apexOf(name: string): string | undefined {
    return ancestors(name).find((above) => this.at(above, 'SOA').length > 0);
  }

  /** The topmost name with NS records between the apex and this name. */
  cutOf(name: string): string | undefined {
    const apex = this.apexOf(name);
    if (apex === undefined) return undefined;
    const between = ancestors(name).slice(0, ancestors(name).indexOf(apex));
    return between.findLast((above) => this.at(above, 'NS').length > 0);
  }

  answer(name: string, type: string, depth = 0, seen: readonly string[] = []): ModelAnswer | null {
    const encloser = ancestors(name).find((above) => this.exists(above)) ?? '';
    if (this.apexOf(encloser) === undefined && encloser !== name) return null;
    let source = encloser;
    if (encloser !== name) {
      const cut = this.cutOf(encloser);
      if (cut !== undefined) return this.referral(cut, cut, depth);
      source = encloser === '' ? '*' : `*.${encloser}`;
      if (!this.exists(source)) return this.negative('NXDOMAIN', this.apexOf(encloser));
    }
    const cut = this.cutOf(source);
    if (cut !== undefined && !(cut === source && type === 'DS')) {
      return this.referral(cut, cut === source ? name : cut, depth);
    }
    const own = this.at(source).map((record) => ({ ...record, name }));
    if (own.length === 0)
      return this.apexOf(source) === undefined ? null : this.negative('NOERROR', this.apexOf(source));
    const wanted = type === 'ANY' ? own[0]?.type : type;
    const found = own.filter((record) => record.type === wanted);
    if (found.length > 0) return this.positive(found);
    const [alias] = own.filter((record) => record.type === 'CNAME');
    if (alias === undefined) return this.negative('NOERROR', this.denierOf(source, type));
    if (depth >= MAX_CHAIN || seen.includes(source)) return this.positive([]);
    const rest = this.answer(String(alias.data).toLowerCase(), type, depth + 1, [...seen, source]);
    if (rest === null) return this.positive([alias]);
    return { ...rest, authoritative: true, answers: [alias, ...rest.answers] };
  }

  /** DS at an apex belongs to the zone above, if no delegation lies between. */
  denierOf(name: string, type: string): string | undefined {
    const apex = this.apexOf(name);
    if (type !== 'DS' || apex !== name || name === '') return apex;
    const above = parent(name);
    const outer = this.apexOf(above);
    return outer === undefined || this.cutOf(above) !== undefined ? apex : outer;
  }

  positive(answers: ModelRecord[]): ModelAnswer {
    return { rcode: 'NOERROR', authoritative: true, answers, authorities: [], additionals: [] };
  }

  negative(rcode: ModelAnswer['rcode'], apex: string | undefined): ModelAnswer {
    const soa = apex === undefined ? [] : this.at(apex, 'SOA');
    const { minimum } = (soa[0]?.data ?? { minimum: 0 }) as { minimum: number };
    const authorities = soa.map((record) => ({
      ...record,
      ttl: Math.min(soa[0]?.ttl ?? 0, minimum),
    }));
    return { rcode, authoritative: true, answers: [], authorities, additionals: [] };
  }

  referral(cut: string, owner: string, depth: number): ModelAnswer {
    const servers = this.at(cut, 'NS');
    const additionals = servers.flatMap(({ data }) => {
      const target = String(data).toLowerCase();
      if (this.apexOf(target) !== this.apexOf(cut) || !this.exists(target)) return [];
      return [...this.at(target, 'A'), ...this.at(target, 'AAAA')];
    });
    return {
      rcode: 'NOERROR',
      authoritative: depth > 0,
      answers: [],
      authorities: servers.map((record) => ({ ...record, name: owner })),
      additionals,
    };
  }
}
