/** Resolves sort keys that lead through references to a value of other documents. */
import { ServiceError } from '../../base/errors.ts'
import { type ObjectField, isVirtual } from '../../schema/field.ts'
import { type Named, type Query, conjunctsOf } from '../query.ts'
import { type JoinedField, isCount, isJoined } from './joins.ts'
import {
  type DocumentsLink,
  type FieldRef,
  type Scope,
  type Waypoint,
  joinedScope,
  trailOf,
} from './scope.ts'

type Resolve = (query: Query<Named>, scope: Scope) => Query<FieldRef>

/** The scope is the root of a document. Undefined if the name stays in the document. */
export function resolveJoined(named: Named, scope: Scope, resolve: Resolve): FieldRef | undefined {
  const trail = trailOf(named, scope)
  const field = trail.at(-1)?.field
  if (!field || !trail.some((each) => isJoined(each.field) || isCount(each.field))) return undefined
  const root = scope.here as ObjectField
  const links: DocumentsLink[] = []
  let way: readonly Waypoint[] = []
  for (const waypoint of trail) {
    const last = way.at(-1)?.field
    if (!last || !isJoined(last)) {
      way = [...way, waypoint]
      continue
    }
    if (waypoint.step !== '*')
      throw invalidSort(`"${named.path}" needs "*" after the reference "${last.name}"`, named)
    const link = linkTo(way, last, { named, root, resolve })
    requireOne(link, named)
    links.push(link)
    way = []
  }
  const { path } = named
  if (isCount(field)) {
    const { counts } = field
    const steps = [...way.slice(0, -1), { step: counts.name, field: counts }]
    const counted = linkTo(steps, counts, { named, root, resolve })
    return { path, up: 0, steps: [], field, joined: { links, counted } }
  }
  if (isJoined(field)) {
    throw invalidSort(`"${path}" leads to documents: sort by a field of theirs ("${path}.*.…")`, named)
  }
  if (isVirtual(field)) {
    throw invalidSort(`"${path}" is filled when a document is read, so it can only be projected`, named)
  }
  return { path, up: 0, steps: way.map(({ step }) => step), field, joined: { links } }
}

interface Linking {
  readonly named: Named
  readonly root: ObjectField
  readonly resolve: Resolve
}

function linkTo(
  way: readonly Waypoint[],
  field: JoinedField,
  { named, root, resolve }: Linking,
): DocumentsLink {
  const steps = way.map(({ step }) => step)
  if (steps.some((step) => step === '*' || typeof step === 'number')) {
    const message = `"${named.path}": the reference "${field.name}" is in an array; a sort leads only through references outside of arrays`
    throw invalidSort(message, named)
  }
  return documentsLink({ path: named.path, up: 0, steps, field }, { root, path: field.path }, resolve)
}

/** `root` is that of the requested document, `path` that of the reference in the document that contains it. */
export function documentsLink(
  reference: DocumentsLink['reference'],
  { root, path }: { readonly root: ObjectField; readonly path: string },
  resolve: Resolve,
): DocumentsLink {
  const { steps, field } = reference
  const holder = field.inside?.join.schema.root ?? root
  const query = resolve(field.join.query, joinedScope(field, holder, path))
  return { kind: 'documents', steps: steps.slice(0, -1), reference, query }
}

/** A sort has one value for each document, so the definition of the reference must select one document. */
function requireOne({ reference, query }: DocumentsLink, named: Named): void {
  const fixed = new Set(conjunctsOf(query).flatMap(fixedPath))
  const { uniqueKeys } = reference.field.join.schema
  if (uniqueKeys.some((paths) => paths.every((path) => fixed.has(path)))) return
  const message = `"${named.path}": the reference "${reference.field.name}" may join several documents; a sort leads only through a reference whose query compares "_id", or each field of a unique index, with fields of the document by "="`
  throw invalidSort(message, named)
}

/** The path of a field in the joined document that a term makes equal to one value. */
function fixedPath(term: Query<FieldRef>): readonly string[] {
  if (term.kind === 'compare') {
    const isFixed = term.op === '$eq' && term.value !== null && isOwn(term.field)
    return isFixed ? [term.field.field.path] : []
  }
  if (term.kind !== 'compareFields' || term.op !== '$eq') return []
  const { field, rfield } = term
  if (isOwn(field) && isOuter(rfield)) return [field.field.path]
  return isOwn(rfield) && isOuter(field) ? [rfield.field.path] : []
}

function isOwn(ref: FieldRef): boolean {
  return ref.up === 0 && isOneValue(ref)
}

function isOuter(ref: FieldRef): boolean {
  return ref.up > 0 && isOneValue(ref)
}

function isOneValue({ steps, field }: FieldRef): boolean {
  return field.kind === 'simple' && steps.every((step) => typeof step === 'string' && step !== '*')
}

function invalidSort(message: string, { at }: Named): ServiceError {
  return new ServiceError('query-api:InvalidSort', message, { at })
}
