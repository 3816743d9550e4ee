/** Where a store is, as configuration writes it: `sqlite:DIRECTORY` or the URL of a PostgreSQL database. */

export type Location =
  | { readonly kind: 'sqlite'; readonly directory: string }
  | { readonly kind: 'postgres'; readonly url: string }

export const LOCATION_FORMS = 'sqlite:DIRECTORY or postgres://USER:PASSWORD@HOST:PORT/DATABASE'

/** Undefined when it is neither; a message must not repeat it, since there may be a password in it. */
export function parseLocation(text: string): Location | undefined {
  if (text.startsWith(SQLITE)) {
    const directory = text.slice(SQLITE.length)
    // `sqlite://data` would be a directory at the root, which nobody who writes it means
    return directory.trim() === '' || /^\/\/[^/]/.test(directory) ? undefined : { kind: 'sqlite', directory }
  }
  return POSTGRES.test(text) && URL.canParse(text) ? { kind: 'postgres', url: text } : undefined
}

/** The location as people may see it. Rather too much is masked than too little: passwords may hold anything. */
export function maskLocation(text: string): string {
  if (!POSTGRES.test(text)) return text
  return text.replace(/^(\w+:\/\/[^:@/]*):.*@/s, '$1:***@').replaceAll(/([?&]\w*password=)[^&#]*/gi, '$1***')
}

const SQLITE = 'sqlite:'
const POSTGRES = /^postgres(?:ql)?:\/\//
