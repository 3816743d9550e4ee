/**
 * What a reader sees of a change: the event that the hook would have made, had the hidden fields never been there. It
 * is made anew from the whole documents rather than cut down, since what is left of an event that knew more would tell
 * of it: by the positions of elements, by which of them belong together, by which a projection chose.
 */
import { holds } from '../access/conditions.ts'
import type { View } from '../access/view.ts'
import type { JsonObject } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import type { Field } from '../schema/field.ts'
import type { Event, EventHook, Happening } from './event.ts'
import { makeEvent } from './make-event.ts'

/**
 * Undefined when nothing that the reader may see changed. Both states must be among the documents they may read: of a
 * change that brings one in or takes one out, the watched part may be one that they do not see.
 */
export function visibleEvent(
  happening: Happening,
  { hook, view }: { readonly hook: EventHook; readonly view: View },
): Event | undefined {
  if (!view.admitsTo('find')) return undefined
  const states = [happening.before, happening.after].filter((state) => state !== undefined)
  const rules = view.rulesFor('find')
  if (!states.every((state) => holds(rules, state))) return undefined
  return makeEvent(happening, { hook, schema: view.schema, isHidden: hiddenIn(states, view) })
}

type IsHidden = (field: Field) => boolean

/** What is hidden in one state is hidden in both: a value that comes into sight need not have changed. */
function hiddenIn(states: readonly JsonObject[], { visibility, visibilityOf }: View): IsHidden {
  if (!visibilityOf) return visibility.isHidden
  const [first = visibility, second = first] = states.map(visibilityOf)
  return first === second ? first.isHidden : eitherOf(first.isHidden)(second.isHidden)
}

const eitherOf = memoized((one: IsHidden) =>
  memoized(
    (other: IsHidden): IsHidden =>
      (field) =>
        one(field) || other(field),
  ),
)
