/** A value that cannot be used; the message names the setting and what it takes. */
export class ConfigError extends Error {}
