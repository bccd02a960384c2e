/** Something wrong with the wire between hosts, by their addresses, as rules of the switch. */
export type Disturbance =
  /** Nothing passes between the two sides; nobody is told. */
  | { readonly kind: 'cut'; readonly between: string; readonly and: readonly string[] }
  /** Each packet from or to the host is lost with this probability, in percent. */
  | { readonly kind: 'loss'; readonly host: string; readonly percent: number };

/** The whole table, for `nft -f -`: it replaces the one before at once. */
export function disturbanceRules(disturbances: readonly Disturbance[]): string {
  return [
    // Added first, so that there is always one to delete.
    'add table bridge faults',
    'delete table bridge faults',
    'table bridge faults {',
    '  chain forward {',
    '    type filter hook forward priority 0;',
    ...disturbances.flatMap(rulesOf).map((rule) => `    ${rule} drop`),
    '  }',
    '}',
    '',
  ].join('\n');
}

function rulesOf(disturbance: Disturbance): string[] {
  switch (disturbance.kind) {
    case 'cut': {
      const [one, others] = [disturbance.between, `{ ${disturbance.and.join(', ')} }`];
      return [`ip saddr ${one} ip daddr ${others}`, `ip saddr ${others} ip daddr ${one}`];
    }
    case 'loss': {
      const perMille = Math.round(disturbance.percent * 10);
      // nft refuses a comparison that always holds.
      const chance = perMille >= 1_000 ? '' : ` numgen random mod 1000 < ${perMille}`;
      return [`ip saddr ${disturbance.host}${chance}`, `ip daddr ${disturbance.host}${chance}`];
    }
  }
}
