/** Parsing and printing of quantities as people write them. Inside, time is ms or µs and sizes are bytes. */
const DURATION_UNITS_MS: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
};

/** `30s`, `1m30s`, `500ms`, `2h`, or a bare number of seconds, to ms. Undefined when it is none of these. */
export function parseDurationMs(text: string): number | undefined {
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * 1_000);
  if (!/^(\d+(\.\d+)?(us|ms|s|min|m|h))+$/.test(trimmed)) return undefined;
  let sumMs = 0;
  for (const [, amount, , unit] of trimmed.matchAll(/(\d+(\.\d+)?)(us|ms|s|min|m|h)/g)) {
    sumMs += Number(amount) * (DURATION_UNITS_MS[unit ?? ''] ?? 0);
  }
  return Math.round(sumMs);
}

/**
 * A number as JSON writes it (`20000`, `0.5`, `1e6`), so that a flag and a field of a plan take the same ones. Other
 * text is given back as it is: the schema that checks the value says what is wrong with it.
 */
export function numberOrText(text: string): number | string {
  const trimmed = text.trim();
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : text;
}

/** `1,234,567`: for people. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1,234.5`: a number that a person gave, with all its digits. */
export function formatGiven(value: number): string {
  const [whole = '', ...fraction] = String(value).split('.');
  return [whole.replace(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.');
}

/** `1 connection`, `1,000 connections`. */
export function formatCounted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** Something per second: whole numbers from 100 on, else three digits. */
export function formatRate(perSecond: number): string {
  if (perSecond >= 99.95) return formatCount(perSecond);
  return perSecond === 0 ? '0' : perSecond.toPrecision(3);
}

/** Three digits: `1.23`, `12.3`, `123`. */
function threeDigits(value: number): string {
  if (value < 9.995) return value.toFixed(2);
  return value < 99.95 ? value.toFixed(1) : value.toFixed(0);
}

/** `1m 30s`, `12.3s`, `850ms`: short, for people. */
export function formatDurationMs(durationMs: number): string {
  if (durationMs < 999.5) return `${Math.round(durationMs)}ms`;
  if (durationMs < 59_950) return `${threeDigits(durationMs / 1_000)}s`;
  const seconds = Math.round(durationMs / 1_000);
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  return hours > 0 ? `${hours}h ${minutes}m` : `${minutes}m ${seconds % 60}s`;
}

/** `12µs`, `1.23ms`, `4.56s`: three digits, for people. */
export function formatLatencyUs(latencyUs: number): string {
  if (latencyUs < 999.5) return `${Math.round(latencyUs)}µs`;
  if (latencyUs < 999_500) return `${threeDigits(latencyUs / 1_000)}ms`;
  return `${threeDigits(latencyUs / 1_000_000)}s`;
}

/** `999B`, `12.3KiB`, `4.56MiB`, with 1024 as the step. */
export function formatBytes(sizeBytes: number): string {
  if (sizeBytes < 1_024) return `${Math.round(sizeBytes)}B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let size = sizeBytes / 1_024;
  let unit = 0;
  while (size >= 1_023.5 && unit < units.length - 1) {
    size /= 1_024;
    unit++;
  }
  return `${threeDigits(size)}${units[unit] ?? ''}`;
}
