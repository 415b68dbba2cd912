import { render } from 'preact';
import { readReportData } from './report-data.ts';
import { ReportPage } from './report-page.tsx';

const place = document.getElementById('page');
if (place) {
  place.replaceChildren();
  render(<ReportPage report={readReportData()} />, place);
}
