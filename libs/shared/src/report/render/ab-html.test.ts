import { describe, expect, it } from 'vitest';
import { balancedCounters, sampleReport } from '../../testing/observed.js';
import { abHtmlReport, proxyNameOf } from './ab-html.js';
import { abBenchmarkingLine, abHtmlBanner } from './ab-progress.js';

const attributes = { table: 'border=1', row: 'class=r', cell: 'bgcolor=white' };

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
<tr class=r><th colspan=2 bgcolor=white>Server Software:</th><td colspan=2 bgcolor=white>nginx/1.22.1</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Server Hostname:</th><td colspan=2 bgcolor=white>127.0.0.1</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Server Port:</th><td colspan=2 bgcolor=white>8080</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Document Path:</th><td colspan=2 bgcolor=white>/a?b=c</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Document Length:</th><td colspan=2 bgcolor=white>100 bytes</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Concurrency Level:</th><td colspan=2 bgcolor=white>2</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Time taken for tests:</th><td colspan=2 bgcolor=white>0.057 seconds</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Complete requests:</th><td colspan=2 bgcolor=white>4</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Failed requests:</th><td colspan=2 bgcolor=white>0</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Keep-Alive requests:</th><td colspan=2 bgcolor=white>0</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Total transferred:</th><td colspan=2 bgcolor=white>700 bytes</td></tr>
<tr class=r><th colspan=2 bgcolor=white>HTML transferred:</th><td colspan=2 bgcolor=white>400 bytes</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Requests per second:</th><td colspan=2 bgcolor=white>70.18</td></tr>
<tr class=r><th colspan=2 bgcolor=white>Transfer rate:</th><td colspan=2 bgcolor=white>11.99 kb/s received</td></tr>
<tr class=r><th bgcolor=white colspan=4>Connection Times (ms)</th></tr>
<tr class=r><th bgcolor=white>&nbsp;</th> <th bgcolor=white>min</th>   <th bgcolor=white>avg</th>   <th bgcolor=white>max</th></tr>
<tr class=r><th bgcolor=white>Connect:</th><td bgcolor=white>    0</td><td bgcolor=white>    1</td><td bgcolor=white>    2</td></tr>
<tr class=r><th bgcolor=white>Processing:</th><td bgcolor=white>    1</td><td bgcolor=white>    1</td><td bgcolor=white>    2</td></tr>
<tr class=r><th bgcolor=white>Total:</th><td bgcolor=white>    1</td><td bgcolor=white>    2</td><td bgcolor=white>    3</td></tr>
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
      '<tr class=r><td colspan=4 bgcolor=white >   (Connect: 0, Receive: 2, Length: 0, Exceptions: 1)</td></tr>',
    );
    expect(html).toContain('>Non-2xx responses:</th><td colspan=2 bgcolor=white>1</td>');
    expect(html).toContain('>Document Length:</th><td colspan=2 bgcolor=white>Variable</td>');
    expect(html).toContain('>Total body sent:</th><td colspan=2 bgcolor=white>10240</td>');
    expect(html).toContain(
      '<td colspan=2 bgcolor=white>&nbsp;</td><td colspan=2 bgcolor=white>10.00 kb/s sent</td>',
    );
    expect(html).not.toContain('Keep-Alive');
    expect(html).not.toContain('Connection Times');
  });

  it('has a banner with a second paragraph that is never closed', () => {
    expect(abHtmlBanner()).toMatch(
      /^<p>\n This is ApacheBench, Version 2\.3 <i>&lt;\$Revision: .* \$&gt;<\/i><br>\n Copyright .*<br>\n Licensed .*<br>\n<\/p>\n<p>\n$/,
    );
  });
});

it('names the proxy in the line before the report', () => {
  expect(proxyNameOf({ proxy: 'p' })).toBe('p:8080');
  expect(proxyNameOf({})).toBeUndefined();
  expect(abBenchmarkingLine('h', false, 'p:81')).toBe('Benchmarking h [through p:81] (be patient)...');
});
