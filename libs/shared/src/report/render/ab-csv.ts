import { latencyAtRankUs } from '../latency.js';
import type { Report } from '../report.schema.js';

/**
 * ab's file of percentiles (`-e`): 0 the smallest, 100 the largest, else the sample at position ⌊N·p/100 + 0.5⌋
 * counted from 0. With 50 samples or fewer that passes the last one, where ab prints what lies behind its
 * array; here the last one is taken.
 */
export function abCsv({ latency: { total } }: Pick<Report, 'latency'>): string {
  const rows = Array.from({ length: 101 }, (_, percent) => {
    const position =
      percent === 0 ? 0 : percent === 100 ? total.count : Math.floor(0.5 + (total.count * percent) / 100);
    const latencyUs =
      percent === 0 ? total.minUs : percent === 100 ? total.maxUs : latencyAtRankUs(total, position + 1);
    return `${percent},${(latencyUs / 1_000).toFixed(3)}`;
  });
  return `${['Percentage served,Time in ms', ...rows].join('\n')}\n`;
}
