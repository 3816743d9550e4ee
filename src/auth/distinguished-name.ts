/** Subjects of certificates, as reverse proxies pass them on: `CN=ann,OU=editor,O=Example`. */

/** Attribute, in upper case, → its values in order; undefined when the text is no such name. */
export function parseDistinguishedName(text: string): ReadonlyMap<string, readonly string[]> | undefined {
  // in the old form with quotes a comma may be part of a value; guessing where would let a value pass for an attribute
  if (/(?<!\\)"/.test(text)) return undefined
  const found = new Map<string, string[]>()
  for (const part of partsOf(text)) {
    const [, name, value] = ATTRIBUTE.exec(part) ?? []
    if (name === undefined || value === undefined) return undefined
    const values = found.get(name.toUpperCase()) ?? []
    found.set(name.toUpperCase(), [...values, unescaped(value.trim())])
  }
  return found
}

const ATTRIBUTE = /^\s*([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)=(.*)$/s

/** What stands between commas and pluses that no backslash belongs to. */
function partsOf(text: string): readonly string[] {
  return text.replaceAll(/\\.|[,+]/gs, (found) => (found.length === 1 ? '\0' : found)).split('\0')
}

function unescaped(value: string): string {
  const bytes = value.replaceAll(/(?:\\[0-9A-Fa-f]{2})+/g, (run) =>
    Buffer.from(run.replaceAll('\\', ''), 'hex').toString('utf8'),
  )
  return bytes.replaceAll(/\\(.)/g, '$1')
}
