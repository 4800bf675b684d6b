/**
 * A model of an authoritative server in its plainest form: a list of records that is searched linearly. Store and
 * table are compared with it.
 */

export interface ModelRecord {
  /** Lower case, without final dot. */
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly data: unknown;
}

export interface ModelAnswer {
  readonly rcode: 'NOERROR' | 'NXDOMAIN' | 'YXDOMAIN';
  readonly authoritative: boolean;
  readonly answers: readonly ModelRecord[];
  readonly authorities: readonly ModelRecord[];
  readonly additionals: readonly ModelRecord[];
}

const MAX_CHAIN = 16;

function parent(name: string): string {
  return name.slice(name.indexOf('.') + 1 || name.length);
}

function ancestors(name: string): string[] {
  return name === '' ? [''] : [name, ...ancestors(parent(name))];
}

/** What has been followed for a question: names, and the DNAME records with the labels that were in front of them. */
interface Chain {
  readonly names: readonly string[];
  readonly redirections: ReadonlyMap<string, number>;
}

const NO_CHAIN: Chain = { names: [], redirections: new Map() };

export class Model {
  records: ModelRecord[] = [];
  /** Which of its record sets a name shows to ANY is its own choice (RFC 8482): this one, if it has it. */
  shownToAny: string | undefined;

  add(record: ModelRecord): void {
    const isSame = (other: ModelRecord) =>
      other.name === record.name &&
      other.type === record.type &&
      JSON.stringify(other.data) === JSON.stringify(record.data);
    if (this.records.some(isSame)) return;
    const { ttl } = this.at(record.name, record.type)[0] ?? record;
    this.records.push({ ...record, ttl });
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

  /**
   * The nearest name at or above this one that has an SOA record. DS is asked of the zone above, if there is one (RFC
   * 4035, section 3.1.4.1).
   */
  apexOf(name: string, type = ''): string | undefined {
    const apexes = ancestors(name).filter((above) => this.at(above, 'SOA').length > 0);
    return type === 'DS' && apexes[0] === name ? (apexes[1] ?? name) : apexes[0];
  }

  /** The topmost name with NS records between the apex and this name. */
  cutOf(name: string, type = ''): string | undefined {
    const apex = this.apexOf(name, type);
    if (apex === undefined) return undefined;
    const between = ancestors(name).slice(0, ancestors(name).indexOf(apex));
    return between.findLast((above) => this.at(above, 'NS').length > 0);
  }

  /** The topmost name above this one, in its zone and above all cuts, that has a DNAME record. */
  redirectionOf(name: string, type = ''): string | undefined {
    const apex = this.apexOf(name, type);
    if (apex === undefined || apex === name) return undefined;
    return ancestors(name)
      .slice(1, ancestors(name).indexOf(apex) + 1)
      .findLast((above) => this.at(above, 'DNAME').length > 0 && this.cutOf(above) === undefined);
  }

  answer(name: string, type: string, chain = NO_CHAIN): ModelAnswer | null {
    const depth = chain.names.length;
    const isClosed = depth >= MAX_CHAIN || chain.names.includes(name);
    const redirection = this.redirectionOf(name, type);
    const encloser = ancestors(name).find((above) => this.exists(above)) ?? '';
    if (redirection !== undefined) {
      return this.redirected(name, type, redirection, chain, isClosed);
    }
    if (this.apexOf(encloser) === undefined && encloser !== name) return null;
    let source = encloser;
    if (encloser !== name) {
      const cut = this.cutOf(encloser);
      if (cut !== undefined) return this.referral(cut, cut, depth);
      source = encloser === '' ? '*' : `*.${encloser}`;
      if (!this.exists(source)) return this.negative('NXDOMAIN', this.apexOf(encloser));
    }
    const cut = this.cutOf(source, type);
    if (cut !== undefined && !(cut === source && type === 'DS')) {
      return this.referral(cut, cut === source ? name : cut, depth);
    }
    const own = this.at(source).map((record) => ({ ...record, name }));
    if (own.length === 0)
      return this.apexOf(source) === undefined ? null : this.negative('NOERROR', this.apexOf(source));
    const shown = own.some((record) => record.type === this.shownToAny) ? this.shownToAny : own[0]?.type;
    const wanted = type === 'ANY' ? shown : type;
    const found = own.filter((record) => record.type === wanted);
    if (found.length > 0) return this.positive(found, this.addressesOf(found, this.apexOf(source)));
    const [alias] = own.filter((record) => record.type === 'CNAME');
    if (alias === undefined) return this.negative('NOERROR', this.apexOf(source, type));
    if (isClosed) return this.positive([]);
    return this.behind([alias], String(alias.data).toLowerCase(), type, {
      ...chain,
      names: [...chain.names, name],
    });
  }

  redirected(name: string, type: string, owner: string, chain: Chain, isClosed: boolean): ModelAnswer {
    const labels = ancestors(name).length - ancestors(owner).length;
    if (isClosed || labels >= (chain.redirections.get(owner) ?? Infinity)) return this.positive([]);
    const [redirection] = this.at(owner, 'DNAME');
    if (redirection === undefined) throw new Error('there was a DNAME record');
    const written = chain.redirections.has(owner) ? [] : [redirection];
    const target = `${name.split('.').slice(0, labels).join('.')}.${String(redirection.data).toLowerCase()}`;
    // On the wire: a length byte in front, and the root.
    if (target.length + 2 > 255) return { ...this.positive(written), rcode: 'YXDOMAIN' };
    const alias = { name, type: 'CNAME', ttl: redirection.ttl, data: target };
    if (type === 'CNAME') return this.positive([...written, alias]);
    return this.behind([...written, alias], target, type, {
      names: [...chain.names, name],
      redirections: new Map([...chain.redirections, [owner, labels]]),
    });
  }

  /** Appends what the aliases lead to. */
  behind(aliases: ModelRecord[], target: string, type: string, chain: Chain): ModelAnswer {
    const rest = this.answer(target, type, chain);
    if (rest === null) return this.positive(aliases);
    return { ...rest, authoritative: true, answers: [...aliases, ...rest.answers] };
  }

  positive(answers: ModelRecord[], additionals: ModelRecord[] = []): ModelAnswer {
    return { rcode: 'NOERROR', authoritative: true, answers, authorities: [], additionals };
  }

  /** The addresses of these name servers that are in the zone. */
  addressesOf(servers: readonly ModelRecord[], apex: string | undefined): ModelRecord[] {
    return servers.flatMap(({ type, data }) => {
      const target = String(data).toLowerCase();
      if (type !== 'NS' || apex === undefined || this.apexOf(target) !== apex) return [];
      if (!this.exists(target) || this.redirectionOf(target) !== undefined) return [];
      return [...this.at(target, 'A'), ...this.at(target, 'AAAA')];
    });
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
    const additionals = this.addressesOf(servers, this.apexOf(cut));
    return {
      rcode: 'NOERROR',
      authoritative: depth > 0,
      answers: [],
      authorities: servers.map((record) => ({ ...record, name: owner })),
      additionals,
    };
  }
}
