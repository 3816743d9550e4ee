/** Versions share their documents: what one of them denies, a caller may have through another. */
import { memoized } from '../../base/memo.ts'
import { type Field, type FieldOperation, type RoleList, isServerMade } from '../../schema/field.ts'
import { type EntityOperation, type Schema, allFields } from '../../schema/schema.ts'
import { fieldPointer, trailTo } from '../../schema/trail.ts'
import { restrictionsOf } from './restrictions.ts'
import { type Finding, type Reach, type Subject, listed } from './subject.ts'

const FIELD_OPERATIONS = ['find', 'insert', 'update'] as const

export function* versionDowngrade(subject: Subject): Generator<Finding> {
  if (subject.schemas.length < 2) return
  const paths = [...pathsIn(subject.schemas)].map((path) => ({ path, places: placesOf(subject, path) }))
  for (const operation of [...FIELD_OPERATIONS, 'delete'] as const) {
    const whole = differences(subject, operation, subject.schemas)
    yield* told(whole, operation)
    if (operation === 'delete') continue
    const differing = rememberedDifferences(subject, operation)
    const known = new Map([['', whole]])
    for (const { path, places } of paths) {
      const own = differing(places).filter(
        (each) => !above(path).some((higher) => isTold(known.get(higher) ?? [], each)),
      )
      known.set(path, own)
      yield* told(own, operation, { path, places })
    }
  }
}

/** A version, and what in it shows the values of a path. */
interface Place {
  readonly schema: Schema
  readonly trail: readonly Field[]
}

interface Difference {
  readonly role: string
  readonly strict: string
  readonly loose: string
  /** In the strict one; in both, where only the rules differ. */
  readonly reach: Reach
  readonly differsByRules: boolean
}

const RANKS: Readonly<Record<Reach, number>> = { no: 0, where: 1, yes: 2 }

/** Fields below the same lists in all versions differ alike, and are mostly many. */
function rememberedDifferences(subject: Subject, operation: FieldOperation) {
  const known = new Map<string, readonly Difference[]>()
  const textOf = memoized((lists: readonly RoleList[]) => JSON.stringify(lists))
  return (places: readonly Place[]): readonly Difference[] => {
    const lists = places.map(({ schema, trail }) => schema.version + textOf(trail.at(-1)!.roles[operation]))
    const key = lists.join('\n')
    const found = known.get(key) ?? differences(subject, operation, places)
    known.set(key, found)
    return found
  }
}

/**
 * Roles that reach further in one version than in another; the widest gap is told. Where rules differ, nobody knows
 * which of them reaches further: the later version is taken for the one to mend.
 */
function differences(
  { roles, reachOf }: Subject,
  operation: EntityOperation,
  places: readonly (Place | Schema)[],
): readonly Difference[] {
  if (places.length < 2) return []
  return roles.flatMap((role) => {
    const reaches = places.map((place): Reached => {
      const question = 'trail' in place ? place : { schema: place }
      const { version } = question.schema
      const reach = reachOf({ ...question, operation }, [role])
      if (reach !== 'where') return { version, reach, rules: '' }
      const restrictions = restrictionsOf({ ...question, operation }, role)
      return { version, reach: restrictions.length === 0 ? 'yes' : reach, rules: restrictions.join('\n\n') }
    })
    return widest(reaches).map((gap) => ({ role, ...gap }))
  })
}

interface Reached {
  readonly version: string
  readonly reach: Reach
  /** By which it is restricted, as text. */
  readonly rules: string
}

function widest(reaches: readonly Reached[]): readonly Omit<Difference, 'role'>[] {
  const ordered = reaches.toSorted((a, b) => RANKS[a.reach] - RANKS[b.reach])
  const [strict, last] = [ordered[0]!, ordered.at(-1)!]
  const differsByRules = strict.reach === last.reach
  const loose = differsByRules ? ordered.findLast(({ rules }) => rules !== strict.rules) : last
  if (!loose) return []
  return [{ strict: strict.version, loose: loose.version, reach: strict.reach, differsByRules }]
}

/** The field itself, or one of type any above it, which shows whatever is stored there. */
function placesOf({ schemas }: Subject, path: string): readonly Place[] {
  return schemas.flatMap((schema) => {
    const trails = [path, ...above(path)].map((each) => trailTo(schema, each))
    const trail = trails[0] ?? trails.find((each) => isAny(each?.at(-1)))
    return trail ? [{ schema, trail }] : []
  })
}

function isAny(field: Field | undefined): boolean {
  return field?.kind === 'simple' && field.type.name === 'any'
}

function pathsIn(schemas: readonly Schema[]): ReadonlySet<string> {
  return new Set(
    schemas.flatMap(({ root }) => [...allFields(root.fields)].filter(isKept).map(({ path }) => path)),
  )
}

function isKept(field: Field): boolean {
  return field.kind !== 'reference' && !isServerMade(field) && field.path !== 'objectType'
}

/** What a path lies below, the whole document last. */
function above(path: string): readonly string[] {
  const steps = path.split('.')
  return steps.map((_, i) => steps.slice(0, steps.length - 1 - i).join('.'))
}

function isTold(known: readonly Difference[], { role, strict, loose }: Difference): boolean {
  return known.some((each) => each.role === role && each.strict === strict && each.loose === loose)
}

/** The list that is to be mended stands in the version that grants more. */
function* told(
  differing: readonly Difference[],
  operation: EntityOperation,
  about?: { readonly path: string; readonly places: readonly Place[] },
): Generator<Finding> {
  const what = about ? `"${about.path}"` : 'documents'
  const groups = Map.groupBy(differing, ({ strict, loose, reach, differsByRules }) =>
    JSON.stringify([strict, loose, reach, differsByRules]),
  )
  for (const group of groups.values()) {
    const { strict, loose, reach, differsByRules } = group[0]!
    const who = listed(group.map(({ role }) => role))
    const denied = reach === 'no' ? 'denied' : 'granted for some documents only'
    const gap = differsByRules
      ? `is granted to ${who} by other rules in version ${strict} than in version ${loose}`
      : `is ${denied} to ${who} in version ${strict}, but version ${loose} grants it`
    const field = about?.places.find(({ schema }) => schema.version === loose)?.trail.at(-1)
    yield {
      severity: 'warning',
      code: 'version-downgrade',
      at: `/schema${field ? fieldPointer(field.path) : ''}/access/${operation}`,
      version: loose,
      msg:
        `${operation} of ${what} ${gap}, ` +
        `and both show the same data; give both the same lists, or disable version ${loose}`,
    }
  }
}
