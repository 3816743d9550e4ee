/**
 * A hook may name fields before a version defines them; a misspelt field never creates an event. Nor does a reference:
 * its documents are those of another entity.
 */
import { type Json, isArray, pointer } from '../../../base/json/json.ts'
import { type Path, type Step, printPath } from '../../../base/path.ts'
import { parseProjection } from '../../../lang/parse/parse-projection.ts'
import type { ProjectionItem } from '../../../lang/projection.ts'
import { type Schema, allFields } from '../../../schema/schema.ts'
import { type Hook, isWatching } from '../../documents/hooks.ts'
import type { Finding } from '../../finding.ts'
import type { Subject } from '../subject.ts'

export function* hookWithoutField({ info, versions }: Subject): Generator<Finding> {
  if (versions.length === 0 || info.hooks.length === 0) return
  const known = knownPaths(versions)
  for (const [i, hook] of info.hooks.entries()) {
    if (!isWatching(hook)) continue
    for (const { item, at } of itemsOf(hook, pointer('/entityInfo/hooks', i))) {
      for (const path of missingIn(item, [], known)) {
        const msg = `the hook "${hook.name}" names "${printPath(path)}", and ${whyInert(path, known)}`
        yield { severity: 'warning', code: 'hook-without-field', at, msg }
      }
    }
  }
}

function whyInert(path: Path, { references }: KnownPaths): string {
  const steps = path.map(stepText)
  const reference = steps.map((_, i) => steps.slice(0, i + 1).join('.')).find((each) => references.has(each))
  return reference === undefined
    ? 'no version has such a field, so it has no effect until a version defines the field: correct the path, or remove it from the projection'
    : `"${reference}" is a reference, whose documents are not part of events: remove it from the projection, or declare a hook for their entity`
}

interface KnownPaths {
  /** With `*` for the elements of arrays. */
  readonly fields: ReadonlySet<string>
  /** Fields whose content no schema describes: any path may continue there. */
  readonly undescribed: ReadonlySet<string>
  readonly references: ReadonlySet<string>
}

function knownPaths(versions: readonly Schema[]): KnownPaths {
  const fields = new Set<string>()
  const undescribed = new Set<string>()
  const references = new Set<string>()
  for (const { root } of versions) {
    for (const field of allFields(root.fields)) {
      ;(field.kind === 'reference' ? references : fields).add(field.path)
      if (field.kind === 'array') fields.add(field.element.path)
      const value = field.kind === 'array' ? field.element : field
      if (value.kind === 'simple' && value.type.name === 'any') undescribed.add(value.path)
    }
  }
  return { fields, undescribed, references }
}

interface PlacedItem {
  readonly item: ProjectionItem<unknown>
  readonly at: string
}

function* itemsOf(hook: Hook, at: string): Generator<PlacedItem> {
  yield* itemsIn(hook.projection, pointer(at, 'projection'))
  const configuration = pointer(at, 'configuration')
  yield* itemsIn(hook.watchProjection, pointer(configuration, 'watchProjection'))
  yield* itemsIn(hook.includeProjection, pointer(configuration, 'includeProjection'))
}

function* itemsIn(projection: Json | undefined, at: string): Generator<PlacedItem> {
  if (projection === undefined) return
  for (const [i, item] of parseProjection(projection, at).entries()) {
    yield { item, at: isArray(projection) ? pointer(at, i) : at }
  }
}

/** The paths of the item, and of a projection of array elements in it, that lead to no field. */
function* missingIn(item: ProjectionItem<unknown>, above: Path, known: KnownPaths): Generator<Path> {
  const pattern = [...above, ...item.pattern]
  if (!leadsToField(pattern, known)) yield pattern
  else if (item.kind !== 'field') {
    for (const nested of item.projection) yield* missingIn(nested, [...pattern, '*'], known)
  }
}

function leadsToField(pattern: Path, { fields, undescribed }: KnownPaths): boolean {
  let path = ''
  for (const step of pattern) {
    if (undescribed.has(path)) return true
    const next = path === '' ? stepText(step) : `${path}.${stepText(step)}`
    // `*` also stands for every member of an object, whatever the members are.
    if (!fields.has(next)) return step === '*'
    path = next
  }
  return true
}

/** An index stands for an element, as `*` does in the paths of fields. */
function stepText(step: Step): string {
  return typeof step === 'number' ? '*' : step
}
