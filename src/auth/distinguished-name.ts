/** Subjects of certificates, as reverse proxies pass them on: `CN=ann,OU=editor,O=Example`. */

/** Attribute, in upper case, → its values in order; undefined when the text is no such name. */
export function parseDistinguishedName(text: string): ReadonlyMap<string, readonly string[]> | undefined {
  const found = new Map<string, string[]>()
  for (const part of text.split(SEPARATOR)) {
    const [, name, value] = ATTRIBUTE.exec(part) ?? []
    if (name === undefined || value === undefined) return undefined
    const values = found.get(name.toUpperCase()) ?? []
    found.set(name.toUpperCase(), [...values, unescaped(value.trim())])
  }
  return found
}

/** A comma or plus without a backslash before it. */
const SEPARATOR = /(?<!\\)[,+]/
const ATTRIBUTE = /^\s*([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)=(.*)$/s

function unescaped(value: string): string {
  const bytes = value.replaceAll(/(?:\\[0-9A-Fa-f]{2})+/g, (run) =>
    Buffer.from(run.replaceAll('\\', ''), 'hex').toString('utf8'),
  )
  return bytes.replaceAll(/\\(.)/g, '$1')
}
