/** Puts the documents of references where the references stand, each without what may not be seen of it. */
import type { AllowedJoin } from '../../../access/requests.ts'
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

/** Changes the document it is given; `slots` are what the joins of the plan gave for it as it is stored. */
export type Embed = (document: JsonObject, from: FilledFrom) => void

export interface FilledFrom {
  readonly joinedSets: readonly JoinedSet[]
  /** Where the document is a projected one: what its objects were made of. */
  readonly whole?: { readonly document: JsonObject; readonly origins: Tracing['origins'] }
}

export function compileEmbed(joins: readonly PlannedJoin[], secret: string): Embed {
  const renderers = joins.map((join) => {
    const show = compileRender(join, secret)
    // What was read apart stands in many places, and looks the same in all of them.
    return join.inStatement ? show : memoized(show)
  })
  return (document, { joinedSets, whole }) => {
    joins.forEach(({ plan }, i) => {
      const holders = holdersOf(whole?.document ?? document, plan.steps, joinedSets[i])
      const name = String(plan.steps.at(-1))
      for (const holder of objectsAt(document, plan.steps)) {
        const joined = holders.get(whole?.origins.get(holder) ?? holder) ?? []
        // Elements may be matched by what is joined, and none is not the same as a missing one.
        holder[name] = joined.map(renderers[i]!)
      }
    })
  }
}

type Show = (joined: JoinedDocument) => JsonObject
type Holders = Map<JsonObject, readonly JoinedDocument[]>

/** The objects that hold the reference, with the documents of each. */
function holdersOf(
  value: Json | undefined,
  [step, ...rest]: Path,
  joinedSet: JoinedSet,
  found: Holders = new Map(),
): Holders {
  if (joinedSet === undefined) return found
  if (step === '*') {
    const elements = isArray(value) ? value : []
    elements.forEach((each, i) => holdersOf(each, rest, joinedSet[i] as JoinedSet, found))
  } else if (rest.length > 0) holdersOf(member(value, String(step)), rest, joinedSet, found)
  else if (isObject(value)) found.set(value, joinedSet as readonly JoinedDocument[])
  return found
}

/** What is hidden, or was never there, holds no reference. */
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
    const told = (): string =>
      documentVersion(
        { id: idText(value), version, text: '' },
        { entity: schema.entity, showsId: visibility.showsId, secret },
      )
    const visible = { ...strip(visibility)(value) } as Record<string, Json>
    for (const field of virtuals) {
      if (!visibility.isHidden(field)) visible[field.name] = virtualValue(field, told())
    }
    if (!project) {
      embed(visible, { joinedSets })
      return visible
    }
    const origins: Tracing['origins'] = new Map()
    const shown = project(visible, told(), { origins, kept: embeddedIn(visible, joins, joinedSets) })
    embed(shown, { joinedSets, whole: { document: visible, origins } })
    return shown
  }
}

/** The objects that hold a reference which joins something: of what is shown of them that may be all. */
function embeddedIn(
  document: JsonObject,
  joins: readonly PlannedJoin[],
  joinedSets: readonly JoinedSet[],
): ReadonlySet<JsonObject> {
  const holders = joins.flatMap(({ plan }, i) => [...holdersOf(document, plan.steps, joinedSets[i])])
  return new Set(holders.filter(([, joined]) => joined.length > 0).map(([holder]) => holder))
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

/** `_id` as stores tell it. */
function idText({ _id: id }: JsonObject): string {
  if (typeof id === 'string') return id
  return isNumber(id) ? numberText(id) : JSON.stringify(id)
}
