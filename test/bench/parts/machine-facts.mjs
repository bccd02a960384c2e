// What a figure depends on besides the program: one line of machine facts for the head of every table.
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';

/**
 * @param {string} path
 * @returns {string} empty where there is no such file
 */
function read(path) {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

export function machineFacts() {
  const isVirtual = /^flags.*\bhypervisor\b/m.test(read('/proc/cpuinfo'));
  const governor = read('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor');
  return [
    `${cpus().length} × ${cpus()[0]?.model}${isVirtual ? ', virtual machine' : ''}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `Linux ${release()}`,
    `Node ${process.version}`,
    `governor ${governor || 'not visible'}`,
    `idle ${read('/sys/devices/system/cpu/cpuidle/current_governor') || 'not visible'}`,
    `spectre_v2: ${read('/sys/devices/system/cpu/vulnerabilities/spectre_v2') || 'not visible'}`,
    `TCP ${read('/proc/sys/net/ipv4/tcp_congestion_control')}`,
    `load ${loadavg()[0]?.toFixed(1)} at the start`,
  ].join('; ');
}
