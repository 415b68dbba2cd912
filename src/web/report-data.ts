import { type ReportModel, reportModelVersion } from '../report/html/report-model.ts';

/** The data that stands in the page; the page and its data come from the same build. */
export function readReportData(): ReportModel {
  const text = document.getElementById('report-data')?.textContent ?? '';
  const value: unknown = JSON.parse(text);
  if (!isReport(value)) throw new Error('this page holds no report of its version');
  return value;
}

function isReport(value: unknown): value is ReportModel {
  return (
    typeof value === 'object' && value !== null && 'version' in value && value.version === reportModelVersion
  );
}
