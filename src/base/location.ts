/** Locations of stores as written in the configuration: `sqlite:DIRECTORY` or the URL of a PostgreSQL database. */

export type Location =
  | { readonly kind: 'sqlite'; readonly directory: string }
  | { readonly kind: 'postgres'; readonly url: string }

export const LOCATION_FORMS = 'sqlite:DIRECTORY or postgres://USER:PASSWORD@HOST:PORT/DATABASE'

/** Undefined when it is neither. Error messages must not quote the text, because it may contain a password. */
export function parseLocation(text: string): Location | undefined {
  if (text.startsWith(SQLITE)) {
    const directory = text.slice(SQLITE.length)
    // `sqlite://data` would be a directory at the root of the file system, which is surely a mistake
    return directory.trim() === '' || /^\/\/[^/]/.test(directory) ? undefined : { kind: 'sqlite', directory }
  }
  return POSTGRES.test(text) && URL.canParse(text) ? { kind: 'postgres', url: text } : undefined
}

/** The location without its password, for logs. Masks too much rather than too little: passwords may contain anything. */
export function maskLocation(text: string): string {
  if (!POSTGRES.test(text)) return text
  return text.replace(/^(\w+:\/\/[^:@/]*):.*@/s, '$1:***@').replaceAll(/([?&]\w*password=)[^&#]*/gi, '$1***')
}

const SQLITE = 'sqlite:'
const POSTGRES = /^postgres(?:ql)?:\/\//
