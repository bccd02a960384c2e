import { describe, expect, it } from 'vitest';
import { balancedCounters, sampleReport } from '../../testing/observed.js';
import { abHtmlReport, proxyNameOf } from './ab-html.js';
import { abBenchmarkingLine, abHtmlBanner } from './ab-progress.js';

const attributes = { table: 'border=1', row: 'id=y', cell: 'id=z' };

function reportOf(more: object = {}) {
  return sampleReport({
    plan: { connections: 2, requests: 4, probe: true, checkLength: true },
    seen: {
      counters: balancedCounters({
        completed: 4,
        bytesReceived: 700,
        bodyBytesReceived: 400,
        bytesSent: 320,
      }),
      samples: {
        connect: [500, 1_600],
        wait: [1, 1, 1, 1],
        fresh: [2_000, 3_000],
        freshProcessing: [1_500, 1_400],
        reused: [900, 1_100],
      },
      gauges: { firstSendUs: 0, lastEventUs: 57_000 },
    },
    input: { referenceBytes: 100, ...more },
  });
}

/** As captured from ab, with other numbers. */
const EXPECTED = `<table border=1>
<tr id=y><th colspan=2 id=z>Server Software:</th><td colspan=2 id=z>nginx/1.22.1</td></tr>
<tr id=y><th colspan=2 id=z>Server Hostname:</th><td colspan=2 id=z>127.0.0.1</td></tr>
<tr id=y><th colspan=2 id=z>Server Port:</th><td colspan=2 id=z>8080</td></tr>
<tr id=y><th colspan=2 id=z>Document Path:</th><td colspan=2 id=z>/a?b=c</td></tr>
<tr id=y><th colspan=2 id=z>Document Length:</th><td colspan=2 id=z>100 bytes</td></tr>
<tr id=y><th colspan=2 id=z>Concurrency Level:</th><td colspan=2 id=z>2</td></tr>
<tr id=y><th colspan=2 id=z>Time taken for tests:</th><td colspan=2 id=z>0.057 seconds</td></tr>
<tr id=y><th colspan=2 id=z>Complete requests:</th><td colspan=2 id=z>4</td></tr>
<tr id=y><th colspan=2 id=z>Failed requests:</th><td colspan=2 id=z>0</td></tr>
<tr id=y><th colspan=2 id=z>Keep-Alive requests:</th><td colspan=2 id=z>0</td></tr>
<tr id=y><th colspan=2 id=z>Total transferred:</th><td colspan=2 id=z>700 bytes</td></tr>
<tr id=y><th colspan=2 id=z>HTML transferred:</th><td colspan=2 id=z>400 bytes</td></tr>
<tr id=y><th colspan=2 id=z>Requests per second:</th><td colspan=2 id=z>70.18</td></tr>
<tr id=y><th colspan=2 id=z>Transfer rate:</th><td colspan=2 id=z>11.99 kb/s received</td></tr>
<tr id=y><th id=z colspan=4>Connection Times (ms)</th></tr>
<tr id=y><th id=z>&nbsp;</th> <th id=z>min</th>   <th id=z>avg</th>   <th id=z>max</th></tr>
<tr id=y><th id=z>Connect:</th><td id=z>    0</td><td id=z>    1</td><td id=z>    2</td></tr>
<tr id=y><th id=z>Processing:</th><td id=z>    1</td><td id=z>    1</td><td id=z>    2</td></tr>
<tr id=y><th id=z>Total:</th><td id=z>    1</td><td id=z>    2</td><td id=z>    3</td></tr>
</table>
`;

describe('the HTML report', () => {
  it('has the rows, columns and attributes of ab', () => {
    expect(abHtmlReport(reportOf(), {}, attributes)).toBe(EXPECTED);
  });

  it('escapes what comes from outside', () => {
    const report = reportOf({ target: { addresses: [], server: '<b>&"' } });
    const html = abHtmlReport(report, { path: '/<script>' }, attributes);
    expect(html).toContain('>&lt;b&gt;&amp;&quot;</td>');
    expect(html).toContain('>/&lt;script&gt;</td>');
    expect(html).not.toMatch(/<script|<b>/);
  });

  it('shows the kinds of failures, other statuses and the body that was sent', () => {
    const report = sampleReport({
      seen: {
        counters: balancedCounters({ completed: 2, non2xx: 1, tls: 1, timeout: 2, bytesSent: 10_240 }),
        gauges: { firstSendUs: 0, lastEventUs: 1e6 },
      },
    });
    const html = abHtmlReport(report, { hasBody: true, keepAlive: false, variableLength: true }, attributes);
    expect(html).toContain(
      '<tr id=y><td colspan=4 id=z >   (Connect: 0, Receive: 2, Length: 0, Exceptions: 1)</td></tr>',
    );
    expect(html).toContain('>Non-2xx responses:</th><td colspan=2 id=z>1</td>');
    expect(html).toContain('>Document Length:</th><td colspan=2 id=z>Variable</td>');
    expect(html).toContain('>Total body sent:</th><td colspan=2 id=z>10240</td>');
    expect(html).toContain('<td colspan=2 id=z>&nbsp;</td><td colspan=2 id=z>10.00 kb/s sent</td>');
    expect(html).not.toContain('Keep-Alive');
    expect(html).not.toContain('Connection Times');
  });

  it('has a banner with a second paragraph that is never closed', () => {
    expect(abHtmlBanner()).toMatch(
      new RegExp(
        '^<p>\\n This is ApacheBench, Version 2\\.3 <i>&lt;\\$Revision: .* \\$&gt;</i><br>\\n' +
          ' Copyright .*<br>\\n Licensed .*<br>\\n</p>\\n<p>\\n$',
      ),
    );
  });
});

it('names the proxy in the line before the report', () => {
  expect(proxyNameOf({ proxy: 'p' })).toBe('p:8080');
  expect(proxyNameOf({})).toBeUndefined();
  expect(abBenchmarkingLine('h', false, 'p:81')).toBe('Benchmarking h [through p:81] (be patient)...');
});
