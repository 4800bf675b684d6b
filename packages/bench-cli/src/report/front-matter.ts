/** The front matter of a post: YAML that Docusaurus, Hugo and Jekyll read alike. Pure. */
import type { ReportDocument } from './document/document.ts';

/** What a user may set; the rest follows from the record. */
export interface PostSettings {
  /** A key of Docusaurus' `authors.yml` (`jafayer`), or a name ("Jane Doe"). Default: bench itself. */
  readonly authors?: readonly string[];
  /** Default: date and servers. */
  readonly slug?: string;
  /** Default: a question about the servers. */
  readonly title?: string;
  /** Default: `benchmark`, `dns` and the servers. */
  readonly tags?: readonly string[];
  /** `2026-11-22`, also with a time. Default: the day of the run. */
  readonly date?: string;
}

/**
 * A double-quoted scalar on one line. JSON strings are valid YAML, except for characters that YAML does not allow
 * unescaped (YAML 1.2, section 5.1), or that YAML 1.1 takes for line breaks.
 */
export function yamlText(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function yamlList(items: readonly string[]): string {
  return `[${items.map(yamlText).join(', ')}]`;
}

/** Docusaurus takes a bare word for a key of `authors.yml`, and fails if it is not one: names are objects. */
function authorLines(authors: readonly string[] | undefined, version: string): string[] {
  if (authors === undefined)
    return ['authors:', '  - name: dinodns-bench', `    title: ${yamlText(`version ${version}`)}`];
  const isKey = (author: string) => /^[\w-]+$/.test(author);
  if (authors.every(isKey)) return [`authors: ${yamlList(authors)}`];
  return [
    'authors:',
    ...authors.map((author) => `  - ${isKey(author) ? yamlText(author) : `name: ${yamlText(author)}`}`),
  ];
}

/** What a post says of itself unless the user says otherwise. */
type PostFacts = Pick<ReportDocument, 'title' | 'version'> &
  Pick<ReportDocument['post'], 'slug' | 'description' | 'date' | 'tags'>;

const LONGEST_SLUG = 100;

/** At most 100 letters, digits and hyphens; a longer one ends with a whole word, if it has several. */
export function slugFrom(words: readonly string[]): string {
  const slug = words
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  if (slug.length <= LONGEST_SLUG) return slug;
  return slug
    .slice(0, LONGEST_SLUG + 1)
    .replace(/-[^-]*$/, '')
    .slice(0, LONGEST_SLUG);
}

/** For names of any kind: each another one, in small letters only. */
export function slugsOf(names: readonly string[]): Map<string, string> {
  const slugs = new Map<string, string>();
  const taken = new Set<string>();
  for (const name of new Set(names)) {
    const plain = slugFrom([name]) || 'x';
    let slug = plain;
    for (let number = 2; taken.has(slug); number++) slug = `${plain}-${number}`;
    taken.add(slug);
    slugs.set(name, slug);
  }
  return slugs;
}

/** From `---` to `---`. Nothing in the facts or in the settings can end it early. */
export function frontMatterOf(facts: PostFacts, post: PostSettings = {}): string {
  return [
    '---',
    `slug: ${post.slug === undefined ? slugFrom([facts.slug]) : yamlText(post.slug)}`,
    `title: ${yamlText(post.title ?? facts.title)}`,
    `description: ${yamlText(facts.description)}`,
    `date: ${post.date ?? facts.date}`,
    ...authorLines(post.authors, facts.version),
    `tags: ${yamlList(post.tags ?? facts.tags)}`,
    '---',
  ].join('\n');
}
