import { describe, expect, it } from 'vitest';
import { tableFiles } from '../testing/table-files.js';
import { busyMachineWarning, readCpuLoad } from './cpu-load.js';

function warningOf(loadavg: string | undefined, someAvg10?: string): string | undefined {
  const files = tableFiles({
    ...(loadavg === undefined ? {} : { '/proc/loadavg': `${loadavg} 9.47 10.10 12/304 27128\n` }),
    ...(someAvg10 === undefined
      ? {}
      : {
          '/proc/pressure/cpu':
            `some avg10=${someAvg10} avg60=63.96 avg300=70.40 total=5817666227\n` +
            'full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
        }),
  });
  return busyMachineWarning(readCpuLoad(files), 2);
}

describe('a machine that is busy', () => {
  it('is told by its load average and by what waited for a CPU', () => {
    expect(warningOf('10.12', '79.57')).toBe(
      'this machine is busy: a load average of 10.12 on 2 CPUs, programs waited for a CPU 80 % of the last ' +
        'ten seconds; a load would share the CPUs with what runs here, and its numbers would be of both: ' +
        'stop the rest, or wait until it has ended',
    );
  });

  it('is told by either alone', () => {
    expect(warningOf('2.00', '0.00')).toContain('a load average of 2 on 2 CPUs; a load');
    expect(warningOf('0.10', '10.00')).toContain('busy: programs waited for a CPU 10 % of');
    expect(warningOf('5.00')).toContain('a load average of 5');
  });

  it('is not one with free CPUs, nor one that tells nothing', () => {
    expect(warningOf('1.99', '9.99')).toBeUndefined();
    expect(warningOf(undefined)).toBeUndefined();
    expect(
      busyMachineWarning(readCpuLoad(tableFiles({ '/proc/loadavg': 'odd', '/proc/pressure/cpu': '' })), 2),
    ).toBe(undefined);
  });
});
