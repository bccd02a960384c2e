import { fromEnvironment, wholeNumberFlag } from './flags.js';

/** A setting of a command: the flag that gives it, and the variable of the environment that stands in for it. */
export interface SettingNames {
  readonly flag: string;
  readonly variable?: string;
}

/**
 * Settings of a command as a person gave them: the flag wins over the environment. Messages call each by the name
 * under which it came, because nobody has typed the name of a field of ours.
 */
export class Settings<Field extends string> {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #names: Readonly<Record<Field, SettingNames>>;

  /** @param values what the flags gave, by the flag's name without dashes. */
  constructor(values: Readonly<Record<string, unknown>>, names: Readonly<Record<Field, SettingNames>>) {
    this.#values = values;
    this.#names = names;
  }

  /** Undefined when neither gives it; an empty variable counts as absent. */
  text(field: Field): string | undefined {
    const { flag, variable } = this.#names[field];
    const value = this.#values[flag];
    if (typeof value === 'string') return value;
    return variable === undefined ? undefined : fromEnvironment(variable);
  }

  /** @throws CliError with EXIT.usage. */
  wholeNumber(field: Field, bounds: { readonly least: number; readonly most: number }): number | undefined {
    return wholeNumberFlag(this.nameOf(field), this.text(field), bounds);
  }

  /** `--redis`, or `BROADSIDE_REDIS_URL` where it came from there; both where neither gave it. */
  nameOf(field: Field): string {
    const { flag, variable } = this.#names[field];
    if (typeof this.#values[flag] === 'string' || variable === undefined) return `--${flag}`;
    return this.text(field) === undefined ? `--${flag} (or ${variable})` : variable;
  }

  /** The given ones, by field. */
  given<Some extends Field>(fields: readonly Some[]): Partial<Record<Some, string>> {
    const found: Partial<Record<Some, string>> = {};
    for (const field of fields) {
      const text = this.text(field);
      if (text !== undefined) found[field] = text;
    }
    return found;
  }
}
