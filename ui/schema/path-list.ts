/** Paths of fields as one text, as addresses have them: by comma, which names may contain as well. */

export function printPaths(paths: readonly string[]): string {
  return paths.map(escaped).join(',')
}

export function parsePaths(text: string): readonly string[] {
  return text.split(',').map(unescaped)
}

/** Without commas, and without a `-` before it, which means something else there. */
export function escaped(path: string): string {
  return path.replaceAll('%', '%25').replaceAll(',', '%2C').replace(/^-/, '%2D')
}

export function unescaped(text: string): string {
  return text.replaceAll(/%(?:25|2C|2D)/g, decodeURIComponent)
}
