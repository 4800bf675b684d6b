/** The figures of a document for spreadsheets and statistics programs. */
import { csvText } from '../csv.ts';
import type { ReportDocument } from './document.ts';

export function documentCsv({ data }: ReportDocument): string {
  return csvText(data.columns, data.rows);
}
