/**
 * Every cap of the system in one place, each with its reason. What a stranger can make grow (a plan, a frame,
 * a reply of the target, a queue of watchers) is bounded by a number of this file.
 */
export const LIMITS = {
  /** Most requests of one plan: counters stay exact integers in a double (2^53) with room for every sum. */
  maxRequests: 1_000_000_000_000,
  /** Most connections of one plan, over all agents. */
  maxConnections: 1_000_000,
  /** Longest run: one week. Longer means that somebody forgot it. */
  maxDurationMs: 7 * 24 * 3_600_000,
  /** Highest rate of one plan, requests per second: beyond what any cluster of ours sends. */
  maxRate: 100_000_000,
  /** Most stages of one plan; they travel in every shard. */
  maxStages: 1_000,
  /** Seeds are 32 bits. */
  maxSeed: 4_294_967_295,
  /** Most requests in flight on one connection. */
  maxPipeline: 1_024,
  /** Longest wait for one reply; the histogram's range is one hour too. */
  maxTimeoutMs: 3_600_000,
  /** Most shards of one run: one per slot, and no cluster of ours has more slots. */
  maxShards: 10_000,
  /** Most shards of one agent at a time, and how many extra slots it has for rests beside each of its slots. */
  maxShardsOfAgent: 1_024,
  extraPerSlot: 1,
  /** Largest request body: it travels inside every shard job. */
  maxRequestBodyBytes: 1_048_576,
  /** Most header lines of a request, and the longest of them. */
  maxRequestHeaders: 100,
  maxRequestHeaderBytes: 8_192,
  /** Largest certificate chain or key, and largest set of trusted certificates (a system's is about 220 kB). */
  maxPemBytes: 65_536,
  maxCaBytes: 262_144,
  /** Most source addresses of one plan: each brings a full range of local ports. */
  maxBindAddresses: 256,
  /** Largest size asked for a socket's buffers; the kernel has its own, smaller limit. */
  maxSocketBufferBytes: 1_073_741_824,
  /** Longest path of a unix socket: `sun_path` has 108 bytes with its end. */
  maxUnixSocketPathBytes: 107,
  /** Distinct reasons of failed connections that a shard tells apart. */
  maxFailureReasons: 8,
  /**
   * How long the target may take to close a connection whose end it has announced, or that HTTP/1.0 without
   * keep-alive implies; then we close it. Who closes first keeps a local port blocked for a minute.
   */
  lingerMs: 100,
  /** Most bytes kept of a run's first reply: the room that `ab` has for a header. */
  maxFirstReplyBytes: 8_191,
  /** Most rows of `ab`'s file of samples, about 45 MB. */
  maxAbSamples: 1_000_000,
  /** Longest name in the domain name system (RFC 1035 2.3.4, as text). */
  maxHostLength: 253,
  /** Rules of one kind in a target policy, and the longest of them: a name with two ports. */
  maxTargetRules: 256,
  maxTargetRuleLength: 300,
  /** Longest target address. */
  maxTargetLength: 8_192,
  /** Largest accepted header block of a reply unless the plan says otherwise. */
  defaultReplyHeaderBytes: 65_536,
  maxReplyHeaderBytes: 16_777_216,
  /** Largest accepted body of a reply unless the plan says otherwise. */
  defaultReplyBodyBytes: 1_073_741_824,
  maxReplyBodyBytes: 1_099_511_627_776,
  /** Random arrivals drawn to count what lost agents should have sent: 0.1 s of the coordinator's time. */
  maxCountedArrivals: 5_000_000,
  /** Length of one interval. */
  intervalMs: 1_000,
  /** Largest interval frame: twelve full histograms of 23 552 buckets at 6 bytes each, and the counters. */
  maxFrameBytes: 2_097_152,
  /** Most frames of one message: as many as an agent has slots. Its bytes: a coordinator stops it as a whole. */
  maxBundledFrames: 1_024,
  maxBundleBytes: 262_144,
  /** Most distinct status codes counted apart in one interval: 100 to 599. */
  maxStatusCodes: 500,
  /** Most intervals an agent keeps for one shard until they are acknowledged; then neighbours are merged. */
  maxOutboxIntervals: 600,
  /** Bytes of these for all shards of an agent together: some 23 000 usual frames; then neighbours are merged too. */
  maxOutboxBytes: 134_217_728,
  /**
   * Most of them that are under way at a time. A coordinator that is late reads what is under way before it gets to
   * anything else, so with many the acknowledgements of all agents would stand behind frames of a few.
   */
  maxUnacknowledgedIntervals: 2,
  /** Largest JSON message on the agent socket, and largest body of a REST request. */
  maxMessageBytes: 262_144,
  maxRestBodyBytes: 4_194_304,
  /** Connect failures in a row, with no success ever, after which a shard gives up (as `ab` does after 10). */
  maxInitialConnectFailures: 10,
  /** Silence after which an agent counts as lost (design section 6). */
  agentSilenceMs: 3_000,
  heartbeatMs: 1_000,
  /** How long an agent goes on with its load while nobody can reach it to stop it. */
  lonelyLoadMs: 60_000,
  /** How long a signed shard job can be taken; the longest way through a queue whose Redis was away. */
  shardOrderLifeMs: 600_000,
  /** Largest signed shard job: a body of text whose every byte is escaped, certificates, header lines. */
  maxShardOrderLength: 8_388_608,
  /** Keys that sign shard jobs at a time: the one in use, and one whose jobs may still be in a queue. */
  maxShardKeys: 4,
  /** Longest time from the first claimed shard to the last one ready. */
  readyTimeoutMs: 30_000,
  /** Time between the order to start and the start: must cover the slowest way from coordinator to agent. */
  startDelayMs: 100,
  /** How long a run waits for a store that is away or full; what is measured meanwhile is kept in memory. */
  storePatienceMs: 60_000,
  /** Time between the order to stop and the common end of a run on several agents. */
  stopDelayMs: 100,
  /** After the load: how long nothing of the last intervals and results may come, and how long all may take. */
  closeTimeoutMs: 30_000,
  maxCloseMs: 600_000,
  /** Seconds of a run that the report and the watchers see one by one; a longer run is folded. */
  maxReportSeconds: 3_600,
  /** Runs in one answer. */
  maxListedRuns: 1_000,
  /** Ended runs that a store keeps: unless it is told otherwise, and at most. */
  defaultKeptRuns: 1_000,
  maxKeptRuns: 100_000,
  /** Of the newest of them also the frames, which can be half a gigabyte each. */
  maxRunsWithFrames: 20,
  /** Runs that wait for slots. */
  maxQueuedRuns: 100,
  /** How long a run may wait for its slots: unless its plan says otherwise, and at most. */
  defaultWaitMs: 3_600_000,
  maxWaitMs: 7 * 24 * 3_600_000,
  /** Of a slot, where it is given by hand: a tenth of a usual one to ten. */
  minWeight: 0.1,
  maxWeight: 10,
  /** Numbers of one shard in one round of a schedule, and longest round of all shards (plan/deal.ts). */
  maxLanes: 100,
  maxRound: 1_000_000,
  /** Longest name of an agent. */
  maxNameLength: 255,
  /** Labels of one agent, and of one plan. */
  maxLabels: 16,
  /** Watchers of the live stream, and how much one slow watcher may hold back. */
  maxWatchers: 1_000,
  maxWatcherBufferBytes: 1_048_576,
  /** Tokens of a store, the ended ones too: all are held in memory. */
  maxTokens: 10_000,
  maxTokenNameLength: 100,
  /** Life of a token that is to end by itself: one minute to ten years. */
  minTokenLifeMs: 60_000,
  maxTokenLifeMs: 10 * 366 * 24 * 3_600_000,
  /** Lines of the audit log: years of a busy cluster, some 30 MB; and most of them in one answer. */
  maxAuditEntries: 100_000,
  maxAuditPage: 1_000,
  /** Wrong tokens within a minute after which no more guesses are looked at: of one address, and of all. */
  maxFailedLogins: 30,
  maxFailedLoginsOverall: 1_000,
  /** Open connections of the coordinator: an agent for every slot, all watchers, and as many again. */
  maxHttpConnections: 20_000,
  /** Proxies that are believed. */
  maxTrustedProxies: 100,
  /** Tickets that nobody has used yet; a new one takes the place of the oldest. */
  maxTickets: 1_000,
} as const;
