/** An invalid value in the configuration; the message names the setting and the values it accepts. */
export class ConfigError extends Error {}
