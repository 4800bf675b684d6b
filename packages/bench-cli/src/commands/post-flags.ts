/** What `bench report` takes for the front matter of a post, checked before anything is rendered. */
import { BenchError } from '../errors.ts';
import type { PostSettings } from '../report/front-matter.ts';

type Name = 'author' | 'slug' | 'title' | 'tags' | 'date';

/** As typed, under the names of the flags: `postAuthor`. */
export type PostFlags = Readonly<Partial<Record<`post${Capitalize<Name>}`, string>>>;

/** Letters and digits of any script, and what paths of addresses have unescaped (RFC 3986, section 2.3). */
const SLUG = /^\/?[\p{L}\p{N}._~-]+(?:\/[\p{L}\p{N}._~-]+)*$/u;
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

function wrong(name: Name, value: string, must: string, fix: string): BenchError {
  return new BenchError('E_USAGE', `--post-${name}: ${JSON.stringify(value)} ${must}`, { fix });
}

function textOf(name: Name, value: string): string {
  const text = value.replaceAll(/\s+/g, ' ').trim();
  if (text === '') throw wrong(name, value, 'is empty', 'Omit it for the default.');
  return text;
}

function listOf(name: 'author' | 'tags', value: string): string[] {
  return [...new Set(value.split(',').map((item) => textOf(name, item)))];
}

function slugOf(value: string): string {
  if (SLUG.test(value)) return value;
  throw wrong(
    'slug',
    value,
    'must be a path of letters, digits and . _ ~ -',
    'For example --post-slug load-tests.',
  );
}

/** A day that does not exist is none: 2026-02-30 would become 2 March. */
function dateOf(value: string): string {
  const day = value.slice(0, 10);
  const moment = DATE.test(value) ? new Date(`${day}T00:00:00Z`) : new Date(Number.NaN);
  const isReal = !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day);
  if (isReal && !Number.isNaN(Date.parse(value))) return value;
  throw wrong('date', value, 'is not a date', 'Write it as --post-date 2026-11-22 or 2026-11-22T09:00:00Z.');
}

/**
 * The settings of the post; undefined without any flag.
 * @throws BenchError `E_USAGE` for a value that cannot stand in front matter, or if no post is made.
 */
export function postSettings(
  { postAuthor: author, postSlug: slug, postTitle: title, postTags: tags, postDate: date }: PostFlags,
  formats: readonly string[],
): PostSettings | undefined {
  const all = Object.entries({ author, slug, title, tags, date });
  const [given] = all.flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given === undefined) return undefined;
  if (!formats.includes('blog')) {
    throw new BenchError('E_USAGE', `--post-${given} is for posts, and no post is made`, {
      fix: 'Add --format blog.',
    });
  }
  return {
    ...(author === undefined ? {} : { authors: listOf('author', author) }),
    ...(slug === undefined ? {} : { slug: slugOf(slug) }),
    ...(title === undefined ? {} : { title: textOf('title', title) }),
    ...(tags === undefined ? {} : { tags: listOf('tags', tags) }),
    ...(date === undefined ? {} : { date: dateOf(date) }),
  };
}
