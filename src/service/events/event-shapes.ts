/** The shapes of events, as readers and sinks receive them. */
import { Type } from '../../base/json/shape.ts'
import { count, document, text } from '../request/shape-parts.ts'

const eventMembers = {
  id: text('Stable, to tell whether an event was seen before.'),
  seq: count('Rises from event to event; what to go on from.'),
  hook: text('Name of the hook.'),
  entity: Type.String(),
  entityVersion: text('By which the document was changed.'),
  operation: Type.Enum(['insert', 'update', 'delete']),
  documentId: Type.Optional(Type.Unknown({ description: '`_id` of the document, where it may be read.' })),
  principal: text('Who changed the document.'),
  date: text('When.'),
  changed: Type.Array(Type.String(), { description: 'Paths of what is new or different.' }),
  removed: Type.Array(Type.String(), { description: 'Paths of what is gone.' }),
  before: Type.Optional(document('What is watched, as it was; absent for an insert.')),
  after: Type.Optional(document('What is watched, as it is; absent for a delete.')),
  include: Type.Optional(document('What the hook includes.')),
  changes: Type.Optional(
    Type.Array(document('`path`, and `from`, `to` or `movedFrom`.'), {
      description: 'Of a hook of kind audit, in place of `before`, `after` and `include`.',
    }),
  ),
}

export const EventShape = Type.Object(eventMembers)

export const EventPageShape = Type.Object({
  events: Type.Array(EventShape, { description: 'Oldest first.' }),
  next: count('To be passed as `since`.'),
})
