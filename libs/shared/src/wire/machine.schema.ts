import { z } from 'zod';

/** One weakness of the CPU as Linux names it, and what the kernel does about it, in the kernel's own words. */
const mitigationSchema = z.object({ name: z.string().max(64), state: z.string().max(300) });

/**
 * Facts about a load machine, for the report and for the check before the load. Everything after `node` is
 * absent where the platform does not tell it: absent is not known, never zero or off.
 */
export const machineSchema = z.object({
  hostname: z.string().max(255),
  /** Processors that the kernel schedules on. */
  cpus: z.int().min(1).max(100_000),
  cpuModel: z.string().max(200),
  memoryBytes: z.number().min(0),
  os: z.string().max(200),
  arch: z.string().max(32),
  node: z.string().max(32),
  /** Physical cores; fewer than `cpus` with hyper-threading. */
  cores: z.int().min(1).max(100_000).optional(),
  /** Highest frequency that the CPU may reach where the kernel says so, else the one at the moment. */
  frequencyMhz: z.number().min(0).max(1_000_000).optional(),
  /** Frequency governor of the processors; several, comma-separated, where they differ. */
  governor: z.string().max(100).optional(),
  mitigations: z.array(mitigationSchema).max(64).optional(),
  /** Name and version of the system, such as `Debian GNU/Linux 12 (bookworm)`. */
  distribution: z.string().max(200).optional(),
  memoryAvailableBytes: z.number().min(0).optional(),
  /** Most file descriptors of the agent's process, and how many it had open when it was asked. */
  descriptorLimit: z.number().min(0).optional(),
  descriptorsOpen: z.number().min(0).optional(),
  /** Network settings of the kernel by their sysctl names, as text. */
  sysctls: z.record(z.string().max(64), z.string().max(100)).optional(),
  /** Limits of the control group: CPUs that the process may use on average, and bytes of memory. */
  cgroup: z
    .object({
      version: z.union([z.literal(1), z.literal(2)]),
      cpuQuota: z.number().min(0).optional(),
      memoryBytes: z.number().min(0).optional(),
    })
    .optional(),
  /** Kind of container, `none` where there are no signs of one. */
  container: z.string().max(32).optional(),
  /** Speed of the network interface that the default route uses. */
  linkMbps: z.number().min(0).optional(),
});
export type Machine = z.infer<typeof machineSchema>;
