/** Name and version of this program, from the one place that states them. */
import packageJson from '../../package.json' with { type: 'json' }

export const NAME = 'smalt'
export const VERSION: string = packageJson.version
