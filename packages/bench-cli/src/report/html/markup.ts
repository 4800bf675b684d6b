/**
 * HTML from template literals: values are escaped as text, unless they are `Html`. There is no other way into the page,
 * so no server name and no file content can become markup.
 */
import { BEFORE_UNIT } from '../../text.ts';
import { escapeXml } from '../charts/render.ts';

/** Markup that is known to be safe: made by `html`, or vouched for by `trusted`. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

export type Content = Html | string | number | readonly Content[] | null | false;

function markupOf(content: Content): string {
  if (content instanceof Html) return content.markup;
  if (content === null || content === false) return '';
  return typeof content === 'object' ? content.map(markupOf).join('') : escapeXml(String(content));
}

/** `` html`<p title="${text}">${text}</p>` ``: values may stand in text and in quoted attributes only. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(parts.map((part, index) => part + markupOf(values[index] ?? null)).join(''));
}

/** For our own markup or that of a library that escapes; never for text from a record. */
export function trusted(markup: string): Html {
  return new Html(markup);
}

/** A sentence in which no unit begins a line. */
export function prose(text: string): string {
  return text.replaceAll(BEFORE_UNIT, '\u00a0');
}

/** A text whose addresses (`https://…`, up to a space or a mark that ends a clause) are links. */
export function withLinks(text: string): Content {
  return text
    .split(/(https:\/\/[^\s"]*[^\s".,;:)])/)
    .map((part, index) => (index % 2 === 0 ? part : html`<a href="${part}">${part}</a>`));
}

/** Puts `separator` between the items. */
export function joined(items: readonly Content[], separator: Content): Content {
  return items.map((item, index) => (index === 0 ? [item] : [separator, item]));
}
