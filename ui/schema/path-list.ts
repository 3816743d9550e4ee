/** Field paths as one text for the address, separated by commas, which names of fields may contain as well. */

export function printPaths(paths: readonly string[]): string {
  return paths.map(escaped).join(',')
}

export function parsePaths(text: string): readonly string[] {
  return text.split(',').map(unescaped)
}

/** Escapes commas, and a leading `-`, which stands for a descending sort. */
export function escaped(path: string): string {
  return path.replaceAll('%', '%25').replaceAll(',', '%2C').replace(/^-/, '%2D')
}

export function unescaped(text: string): string {
  return text.replaceAll(/%(?:25|2C|2D)/g, decodeURIComponent)
}
