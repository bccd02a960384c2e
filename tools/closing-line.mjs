// Turns Vitest's JSON report and the outcome of the other checks into the closing line of `npm test`.

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Tally
 * @typedef {{ status: string }} CaseReport
 * @typedef {{ status: string, assertionResults: CaseReport[] }} FileReport
 * @typedef {{ testResults: FileReport[] }} VitestReport
 */

/**
 * Counts cases. A file that failed without a failed case of its own (it did not load, a hook threw) counts as
 * one failure, because none of its cases can be trusted.
 * @param {VitestReport} report
 * @returns {Tally}
 */
export function tallyReport(report) {
  const tally = { passed: 0, failed: 0, skipped: 0 };
  for (const file of report.testResults) {
    let failedHere = 0;
    for (const { status } of file.assertionResults) {
      if (status === 'passed') tally.passed += 1;
      else if (status === 'failed') failedHere += 1;
      else tally.skipped += 1;
    }
    tally.failed += file.status === 'failed' && failedHere === 0 ? 1 : failedHere;
  }
  return tally;
}

/**
 * @param {Tally} tally
 * @returns {string} such as `12 passed, 0 failed` or `12 passed, 0 failed, 3 skipped`
 */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
