/** Name of this program, and its version from `package.json`. */
import { readFileSync } from 'node:fs'

export const NAME = 'smalt'
/** The folder of `package.json`; the bundled package is as deep in it as this file is. */
export const PACKAGE_ROOT: URL = new URL('../../', import.meta.url)
export const VERSION: string = versionOf(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8'))

function versionOf(packageJson: string): string {
  return (JSON.parse(packageJson) as { readonly version: string }).version
}
