/**
 * The event that a reader may see: the one that the hook would make if the hidden fields did not exist. It is made from
 * the documents for each reader. Removing hidden fields from a finished event would leak information about them: through
 * positions of elements, through the pairing of elements, and through elements that a projection selected.
 */
import { holds } from '../access/conditions.ts'
import type { View } from '../access/view.ts'
import type { JsonObject } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import type { Field } from '../schema/field.ts'
import type { DocumentChange, Event, EventHook } from './event.ts'
import { makeEvent } from './make-event.ts'

/**
 * Undefined when nothing visible changed. The reader must be allowed to read both states: an event for a change from or
 * to a state that the reader may not read would contain the watched part of that state.
 */
export function visibleEvent(
  change: DocumentChange,
  { hook, view }: { readonly hook: EventHook; readonly view: View },
): Event | undefined {
  if (!view.admitsTo('find')) return undefined
  const states = [change.before, change.after].filter((state) => state !== undefined)
  const rules = view.rulesFor('find')
  if (!states.every((state) => holds(rules, state))) return undefined
  return makeEvent(change, { hook, schema: view.schema, isHidden: hiddenIn(states, view) })
}

type IsHidden = (field: Field) => boolean

/** A field hidden in one state is hidden in both: a value that becomes visible need not have changed. */
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
