/** Versions share their documents: a caller may get through one version what another denies. */
import { type Field, isComputed } from '../../schema/field.ts'
import { NO, type Ranks, WHERE, YES } from '../../schema/reach.ts'
import { type EntityOperation, type Schema, allFields } from '../../schema/schema.ts'
import { fieldPointer } from '../../schema/fields-on-path.ts'
import { restrictionsOf } from './restrictions.ts'
import type { Finding } from '../finding.ts'
import { type Subject, listed, rolesOf } from './subject.ts'

const FIELD_OPERATIONS = ['find', 'insert', 'update'] as const

export function* versionDowngrade(subject: Subject): Generator<Finding> {
  if (subject.schemas.length < 2) return
  const placed = placedPaths(subject.schemas)
  for (const operation of [...FIELD_OPERATIONS, 'delete'] as const) {
    const differing = comparing(subject, operation)
    const whole = differing(subject.schemas.map((_, version) => ({ version })))
    yield* createFinding(subject, whole, { operation })
    if (operation === 'delete') continue
    const known = new Map([['', { found: whole, own: whole }]])
    for (const [path, places] of placed) {
      const found = differing(places)
      const higher = above(path).flatMap((each) => known.get(each) ?? [])
      const isReported = ({ key }: Difference): boolean => higher.some(({ own }) => own.has(key))
      // Identical differences at a container are reported there. This is the common case, and comparing the
      // objects is cheap.
      const own = higher.some((each) => each.found === found)
        ? NO_DIFFERENCES
        : new Map([...found].filter(([, each]) => !isReported(each)))
      known.set(path, { found, own })
      yield* createFinding(subject, own, { operation, path, places })
    }
  }
}

/**
 * A version by its index, and the field in it that shows the values of a path; without a field, whole
 * documents.
 */
interface Place {
  readonly version: number
  readonly field?: Field
}

interface Difference {
  /** Encodes the class and both versions. */
  readonly key: number
  /** The class of roles. */
  readonly index: number
  readonly strict: number
  readonly loose: number
  /** In the strict version; in both versions, where only the rules differ. */
  readonly rank: number
  readonly differsByRules: boolean
}

type Differences = ReadonlyMap<number, Difference>
const NO_DIFFERENCES: Differences = new Map()

/** Results are cached by the ranks of the versions, because most fields share the access lists of others. */
function comparing(
  { schemas, reaches }: Subject,
  operation: EntityOperation,
): (places: readonly Place[]) => Differences {
  const known = new Map<string, Differences>()
  const numbers = new Map<Ranks, number>()
  const roleOf = new Map(reaches.roles.map((role, i) => [reaches.classes[i]!, role]))
  return (places) => {
    const ranksOf = ({ version, field }: Place): Ranks => reaches.ranks(schemas[version]!, operation, field)
    const first = places[0] && ranksOf(places[0])
    if (places.every((each) => ranksOf(each) === first)) return NO_DIFFERENCES
    const ranked = places.map((place): Ranked => {
      const { version, field } = place
      const ranks = ranksOf(place)
      const rulesOf = (index: number): readonly string[] =>
        restrictionsOf({ schema: schemas[version]!, operation, field }, roleOf.get(index)!)
      return { version, ranks, rulesOf }
    })
    const key = ranked.map(({ version, ranks }) => `${version}:${numberOf(numbers, ranks)}`).join()
    const found = known.get(key) ?? differences(ranked, schemas.length)
    known.set(key, found)
    return found
  }
}

function numberOf(numbers: Map<Ranks, number>, ranks: Ranks): number {
  const number = numbers.get(ranks) ?? numbers.size
  numbers.set(ranks, number)
  return number
}

interface Ranked {
  readonly version: number
  readonly ranks: Ranks
  /** The texts of the rules that restrict a class. */
  readonly rulesOf: (index: number) => readonly string[]
}

/**
 * Finds classes that reach further in one version than in another, and reports the widest gap per class. When
 * only the rules differ, it is undecidable which reaches further; the later version is then reported as the
 * one to fix.
 */
function differences(ranked: readonly Ranked[], versions: number): Differences {
  // The first and the last version stand for all versions with the same lists.
  const ends = Map.groupBy(ranked, ({ ranks }) => ranks).values()
  const compared = [...new Set([...ends].flatMap((same) => [same[0]!, same.at(-1)!]))]
  if (compared.length < 2) return NO_DIFFERENCES
  compared.sort((a, b) => a.version - b.version)
  const found = new Map<number, Difference>()
  for (const index of compared[0]!.ranks.keys()) {
    const gap = widest(compared.map((each) => reachedBy(each, index)))
    if (!gap) continue
    const key = (index * versions + gap.strict) * versions + gap.loose
    found.set(key, { key, index, ...gap })
  }
  return found
}

interface Reached {
  readonly version: number
  readonly rank: number
  /** The text of the rules that restrict the class. */
  readonly rules: string
}

function reachedBy({ version, ranks, rulesOf }: Ranked, index: number): Reached {
  const rank = ranks[index]!
  if (rank !== WHERE) return { version, rank, rules: '' }
  const rules = rulesOf(index)
  return { version, rank: rules.length === 0 ? YES : rank, rules: rules.join('\n\n') }
}

function widest(reached: readonly Reached[]): Omit<Difference, 'key' | 'index'> | undefined {
  const ordered = reached.toSorted((a, b) => a.rank - b.rank)
  const [strict, last] = [ordered[0]!, ordered.at(-1)!]
  const differsByRules = strict.rank === last.rank
  const loose = differsByRules ? ordered.findLast(({ rules }) => rules !== strict.rules) : last
  return loose && { strict: strict.version, loose: loose.version, rank: strict.rank, differsByRules }
}

/**
 * Every path that some version stores values under, with the field that shows them in each version: the field
 * itself, or a field of type any above it.
 */
function placedPaths(schemas: readonly Schema[]): ReadonlyMap<string, readonly Place[]> {
  const placed = new Map<string, Place[]>()
  const fields = schemas.map(
    ({ root }) => new Map([...allFields(root.fields)].map((each) => [each.path, each])),
  )
  for (const each of fields) for (const field of each.values()) if (isKept(field)) placed.set(field.path, [])
  for (const [version, own] of fields.entries()) {
    const isOpen = own.values().some(isAny)
    for (const [path, places] of placed) {
      const higher = isOpen ? above(path).find((each) => isAny(own.get(each))) : undefined
      const field = own.get(path) ?? (higher === undefined ? undefined : own.get(higher))
      if (field) places.push({ version, field })
    }
  }
  return placed
}

function isAny(field: Field | undefined): boolean {
  return field?.kind === 'simple' && field.type.name === 'any'
}

function isKept(field: Field): boolean {
  return field.kind !== 'reference' && !isComputed(field) && field.path !== 'objectType'
}

/** The containers of a path, innermost first; the whole document is last. */
function above(path: string): readonly string[] {
  const steps = path.split('.')
  return steps.map((_, i) => steps.slice(0, steps.length - 1 - i).join('.'))
}

/** The finding points to the list in the version that grants more, because that one needs the fix. */
function* createFinding(
  { schemas, reaches }: Subject,
  differing: Differences,
  about: {
    readonly operation: EntityOperation
    readonly path?: string
    readonly places?: readonly Place[]
  },
): Generator<Finding> {
  const { operation, path, places } = about
  const what = path === undefined ? 'documents' : `"${path}"`
  const groups = Map.groupBy(
    differing.values(),
    ({ strict, loose, rank, differsByRules }) => `${strict},${loose},${rank},${differsByRules}`,
  )
  for (const group of groups.values()) {
    const { rank, differsByRules, ...gap } = group[0]!
    const [strict, loose] = [schemas[gap.strict]!.version, schemas[gap.loose]!.version]
    const indexes = new Set(group.map(({ index }) => index))
    const who = listed(rolesOf(reaches, (index) => indexes.has(index)))
    const denied = rank === NO ? 'denied' : 'granted for some documents only'
    const difference = differsByRules
      ? `is granted to ${who} by other rules in version ${strict} than in version ${loose}`
      : `is ${denied} to ${who} in version ${strict}, but version ${loose} grants it`
    const field = places?.find(({ version }) => version === gap.loose)?.field
    yield {
      severity: 'warning',
      code: 'version-downgrade',
      at: `/schema${field ? fieldPointer(field.path) : ''}/access/${operation}`,
      version: loose,
      msg:
        `${operation} of ${what} ${difference}, ` +
        `and both show the same data; give both the same lists, or disable version ${loose}`,
    }
  }
}
