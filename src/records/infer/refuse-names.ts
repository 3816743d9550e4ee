/**
 * Refuses records whose members have names that no field may have. To rename them here would not help: the same files,
 * imported again without inference, have the old names.
 */

export class UnusableNames extends Error {}

/** A member, and why no field may have its name. */
export interface UnusableName {
  readonly path: string
  readonly problem: string
}

export function refuseNames(unusable: readonly UnusableName[]): void {
  if (unusable.length === 0) return
  const lines = unusable.slice(0, MAX_SHOWN).map(({ path, problem }) => `  "${shown(path)}": ${problem}`)
  const more = unusable.length > MAX_SHOWN ? [`  and ${unusable.length - MAX_SHOWN} more`] : []
  throw new UnusableNames([HEAD, ...lines, ...more, ADVICE].join('\n'))
}

const HEAD = 'fields cannot have these names:'
const ADVICE =
  'rename these columns or members in the files; several values of one field are an array, in CSV one column such as tags:json'

const MAX_SHOWN = 20
const MAX_LENGTH = 100

function shown(path: string): string {
  return path.length > MAX_LENGTH ? `${path.slice(0, MAX_LENGTH)}…` : path
}
