import { arch, cpus, hostname, release, totalmem, type } from 'node:os';
import type { Machine } from '@broadside/shared';

/** Facts about this machine, for the report, cut to what the wire allows. */
export function describeMachine(): Machine {
  const processors = cpus();
  return {
    hostname: hostname().slice(0, 255),
    cpus: Math.max(processors.length, 1),
    cpuModel: (processors[0]?.model ?? 'unknown').trim().slice(0, 200),
    memoryBytes: totalmem(),
    os: `${type()} ${release()}`.slice(0, 200),
    arch: arch().slice(0, 32),
    node: process.version.slice(0, 32),
  };
}
