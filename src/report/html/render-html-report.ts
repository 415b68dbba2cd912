import type { ReportModel } from './report-model.ts';

/**
 * The page with a run's data in it. Nothing of the data is ever read as markup: it stands in the page as JSON without
 * a single `<`, and the page's script shows texts as text. The page's security policy runs that script and no other.
 * @param template the built page; see {@link readPageTemplate}
 */
export function renderHtmlReport(model: ReportModel, template: string): string {
  return filledPage(template, `${model.run.model} – Omnimeter report`, model);
}

/** A built page with its title and data. */
export function filledPage(template: string, title: string, data: unknown): string {
  const fillings: Readonly<Record<string, string>> = { title: escapeHtml(title), data: embeddedJson(data) };
  return template.replace(/\{\{(title|data)\}\}/g, (place, name: string) => fillings[name] ?? place);
}

/** JSON that may stand within a script element. */
export function embeddedJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
