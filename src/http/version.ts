/** Name of this program, and its version from `package.json`. */
import { readFileSync } from 'node:fs'

export const NAME = 'smalt'
export const VERSION: string = versionOf(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

function versionOf(packageJson: string): string {
  return (JSON.parse(packageJson) as { readonly version: string }).version
}
