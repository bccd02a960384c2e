import type { Report } from '../report.schema.js';

/**
 * The report document as JSON for files: indented by two, except that each row of numbers stays on one line
 * (a latency has thousands of bins). Fields keep the order of the document, so equal reports give equal bytes.
 */
export function reportJson(report: Report): string {
  const indented = JSON.stringify(report, null, 2);
  // Only the layout has line ends: inside of strings they are escaped.
  return `${indented.replace(/\[\n +(-?[\d.e+-]+),\n +(-?[\d.e+-]+)\n +\]/g, '[$1, $2]')}\n`;
}
