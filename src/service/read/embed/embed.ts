/**
 * Embeds the documents of references where the references stand, each reduced to the fields that are visible
 * to the caller.
 */
import type { AllowedJoin, Visibility } from '../../../access/requests.ts'
import {
  type Json,
  type JsonObject,
  isArray,
  isNumber,
  isObject,
  member,
  numberText,
} from '../../../base/json/json.ts'
import { memoized } from '../../../base/memo.ts'
import type { Path } from '../../../base/path.ts'
import { type Tracing, compileProjection } from '../../../lang/evaluate/project.ts'
import type { PlannedJoin } from '../../../plan/joins.ts'
import { type SimpleField, isVirtual } from '../../../schema/field.ts'
import type { Schema } from '../../../schema/schema.ts'
import { documentVersion } from '../../document-version.ts'
import type { JoinedDocument, JoinedSet } from './joined-tree.ts'
import { stripForJoins } from '../hidden-members.ts'

/** Modifies the document. `joinedSets` are the results of the plan's joins for the document as it is stored. */
type Embed = (document: JsonObject, from: FilledFrom) => void

interface FilledFrom {
  readonly joinedSets: readonly JoinedSet[]
  /** Whether the caller may not read a field of this document. */
  readonly isHidden: Visibility['isHidden']
  /**
   * Only for a projected document: the document before projection, and which of its objects each projected
   * object comes from.
   */
  readonly whole?: { readonly document: JsonObject; readonly origins: Tracing['origins'] }
}

export function compileEmbed(joins: readonly PlannedJoin[], secret: string): Embed {
  const renderers = joins.map((join) => {
    const show = compileRender(join, secret)
    // A document that was read separately is embedded in many places and is the same in all of them, so it is
    // rendered once.
    return join.inStatement ? show : memoized(show)
  })
  return (document, { joinedSets, isHidden, whole }) => {
    joins.forEach(({ allowed, plan }, i) => {
      const holders = holdersOf(whole?.document ?? document, plan.steps, joinedSets[i])
      const name = String(plan.steps.at(-1))
      for (const holder of objectsAt(document, plan.steps)) {
        const joined = holders.get(whole?.origins.get(holder) ?? holder)
        if (plan.isCount) {
          if (joined !== undefined && !allowed.joinedBy.some(isHidden)) holder[`${name}#`] = numberOf(joined)
          continue
        }
        // An empty list is embedded too: projections may match elements by it, and it differs from a missing
        // field.
        holder[name] = typeof joined === 'object' ? joined.map(renderers[i]!) : []
      }
    })
  }
}

/** Documents that were read separately are counted here. */
function numberOf(joined: readonly JoinedDocument[] | number): number {
  return typeof joined === 'number' ? joined : joined.length
}

type Show = (joined: JoinedDocument) => JsonObject
type Holders = Map<JsonObject, readonly JoinedDocument[] | number>

/** The objects that contain the reference, each with its joined documents. */
function holdersOf(
  value: Json | undefined,
  [step, ...rest]: Path,
  joinedSet: JoinedSet,
  found: Holders = new Map(),
): Holders {
  if (joinedSet === undefined) return found
  if (step === '*') {
    const elements = isArray(value) ? value : []
    const sets = typeof joinedSet === 'number' ? [] : joinedSet
    elements.forEach((each, i) => holdersOf(each, rest, sets[i] as JoinedSet, found))
  } else if (rest.length > 0) holdersOf(member(value, String(step)), rest, joinedSet, found)
  else if (isObject(value)) found.set(value, joinedSet as readonly JoinedDocument[] | number)
  return found
}

/** An object that is hidden or missing contains no reference. */
function* objectsAt(value: Json | undefined, [step, ...rest]: Path): Generator<Record<string, Json>> {
  if (rest.length === 0) {
    if (isObject(value)) yield value
  } else if (step === '*') {
    for (const each of isArray(value) ? value : []) yield* objectsAt(each, rest)
  } else yield* objectsAt(member(value, String(step)), rest)
}

function compileRender({ allowed, joins }: PlannedJoin, secret: string): Show {
  const { schema } = allowed
  const embed = compileEmbed(joins, secret)
  const project = allowed.projection && compileProjection(allowed.projection, schema.root)
  const virtuals = virtualsOf(schema)
  const strip = stripForJoins(schema)
  return ({ value, version, joinedSets }) => {
    const visibility = visibilityOf(allowed, value)
    const { isHidden } = visibility
    const versionText = (): string =>
      documentVersion(
        { id: idText(value), version, text: '' },
        { entity: schema.entity, showsId: visibility.showsId, secret },
      )
    const visible = { ...strip(visibility)(value) } as Record<string, Json>
    for (const field of virtuals) {
      if (!isHidden(field)) visible[field.name] = virtualValue(field, versionText())
    }
    if (!project) {
      embed(visible, { joinedSets, isHidden })
      return visible
    }
    const origins: Tracing['origins'] = new Map()
    const shown = project(visible, versionText(), {
      origins,
      kept: embeddedIn(visible, joins, { joinedSets, isHidden }),
    })
    embed(shown, { joinedSets, isHidden, whole: { document: visible, origins } })
    return shown
  }
}

/**
 * The objects whose reference joins at least one document, or shows a number. The projection keeps them even if nothing
 * else of them is shown.
 */
function embeddedIn(
  document: JsonObject,
  joins: readonly PlannedJoin[],
  { joinedSets, isHidden }: FilledFrom,
): ReadonlySet<JsonObject> {
  const holders = joins.flatMap(({ allowed, plan }, i) => {
    const found = [...holdersOf(document, plan.steps, joinedSets[i])]
    if (plan.isCount) return allowed.joinedBy.some(isHidden) ? [] : found
    return found.filter(([, joined]) => typeof joined === 'object' && joined.length > 0)
  })
  return new Set(holders.map(([holder]) => holder))
}

function visibilityOf({ visibility, shownAs }: AllowedJoin, value: JsonObject): AllowedJoin['visibility'] {
  return shownAs?.(value) ?? visibility
}

const virtualsOf = memoized((schema: Schema) =>
  [...schema.root.fields.values()].filter((field): field is SimpleField => isVirtual(field)),
)

function virtualValue({ virtual }: SimpleField, version: string): Json {
  return virtual === 'documentVersion' ? version : { documentVersion: version }
}

/** `_id` as text, in the form that stores use. */
function idText({ _id: id }: JsonObject): string {
  if (typeof id === 'string') return id
  return isNumber(id) ? numberText(id) : JSON.stringify(id)
}
